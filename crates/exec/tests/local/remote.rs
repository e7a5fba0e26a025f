//! Data that lies elsewhere, with a server that checks what is asked of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use pinnace_core::plan::{DataKind, Input, InputMode, Location, Output, OutputMode, Role};
use pinnace_exec::log::Stream;
use pinnace_exec::{ExitReport, local};
use ring::hmac;
use sha2::{Digest as _, Sha256};

use crate::support::{Run, role};

const ID: &str = "KEYID";
const SECRET: &str = "verysecretkey";

/// What a server has and what was asked of it.
#[derive(Default)]
struct World {
    /// Path to content: `/bucket/key`.
    objects: BTreeMap<String, Vec<u8>>,
    /// Methods and paths, with the range if there is one.
    asked: Vec<String>,
    /// So many answers are cut off in the middle.
    cuts: u32,
    /// So many answers are errors.
    errors: u32,
    /// Whether nobody is answered any more.
    is_gone: bool,
}

struct Request {
    method: String,
    /// As on the wire.
    target: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// A server for the life of the test program.
fn serve(world: &Arc<Mutex<World>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let world = Arc::clone(world);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let world = Arc::clone(&world);
            std::thread::spawn(move || while answer(&stream, &world).is_some() {});
        }
    });
    address
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        target,
        headers,
        body,
    })
}

fn answer(mut stream: &TcpStream, world: &Mutex<World>) -> Option<()> {
    let request = read(stream)?;
    let mut world = world.lock().unwrap();
    if world.is_gone {
        return None;
    }
    let range = request.headers.get("range").cloned().unwrap_or_default();
    world.asked.push(
        format!("{} {} {range}", request.method, request.target)
            .trim()
            .to_owned(),
    );
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    let path = decoded(path);
    let mut send = |status: &str, headers: &str, body: &[u8], cut: bool| {
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        let sent = if cut { &body[..body.len() / 2] } else { body };
        stream.write_all(sent).ok()?;
        (!cut).then_some(())
    };
    if let Some(why) = refused(&request, &path) {
        let body =
            format!("<Error><Code>SignatureDoesNotMatch</Code><Message>{why}</Message></Error>");
        return send("403 Forbidden", "", body.as_bytes(), false);
    }
    if world.errors > 0 {
        world.errors -= 1;
        return send("503 Service Unavailable", "", b"", false);
    }
    if request.method == "PUT" {
        world.objects.insert(path, request.body);
        return send("200 OK", "", b"", false);
    }
    if query.contains("prefix=") {
        let prefix = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("prefix="))
            .unwrap();
        let start = format!("{path}{}", decoded(prefix));
        let mut list = String::from("<ListBucketResult><IsTruncated>false</IsTruncated>");
        for object in world.objects.keys().filter(|name| name.starts_with(&start)) {
            let key = object[path.len()..].replace('&', "&amp;");
            let _ = write!(list, "<Contents><Key>{key}</Key></Contents>");
        }
        list.push_str("</ListBucketResult>");
        return send("200 OK", "", list.as_bytes(), false);
    }
    let Some(content) = world.objects.get(&path).cloned() else {
        return send("404 Not Found", "", b"", false);
    };
    let etag = format!("\"{:x}\"", content.len());
    let tag = format!("etag: {etag}\r\n");
    if request.headers.get("if-none-match") == Some(&etag) {
        return send("304 Not Modified", &tag, b"", false);
    }
    let cut = world.cuts > 0;
    world.cuts = world.cuts.saturating_sub(1);
    let from = range
        .strip_prefix("bytes=")
        .and_then(|range| range.strip_suffix('-'));
    let from: Option<usize> = from.and_then(|from| from.parse().ok());
    match from.filter(|_| request.headers.get("if-range") == Some(&etag)) {
        Some(from) => {
            let told = format!(
                "content-range: bytes {from}-{}/{}\r\n{tag}",
                content.len() - 1,
                content.len()
            );
            send("206 Partial Content", &told, &content[from..], cut)
        }
        None => send("200 OK", &tag, &content, cut),
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, following)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(&following[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &following[2..];
        } else {
            bytes.push(*first);
            rest = following;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Why a request for a bucket is refused: its signature is made anew from what came over the wire.
fn refused(request: &Request, path: &str) -> Option<String> {
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    if path.starts_with("/public/") {
        return None;
    }
    let given = header("authorization");
    if path.starts_with("/oss-") {
        let token = format!("x-oss-security-token:{}\n", header("x-oss-security-token"));
        let text = format!(
            "{}\n\n{}\n{}\n{token}{path}",
            request.method,
            header("content-type"),
            header("date")
        );
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, SECRET.as_bytes());
        let signature = hmac::sign(&key, text.as_bytes());
        let made = std::process::Command::new("sh")
            .args(["-c", "printf %b \"$1\" | base64", "sh"])
            .arg(
                signature
                    .as_ref()
                    .iter()
                    .fold(String::new(), |mut out, byte| {
                        let _ = write!(out, "\\0{byte:03o}");
                        out
                    }),
            )
            .output()
            .unwrap();
        let wanted = format!(
            "OSS {ID}:{}",
            String::from_utf8(made.stdout).unwrap().trim()
        );
        return (given != wanted).then(|| format!("wanted {wanted}, got {given}"));
    }
    let Some((_, after)) = given.split_once("SignedHeaders=") else {
        return Some("the request is not signed".to_owned());
    };
    let signed = after.split(',').next().unwrap_or_default().to_owned();
    let (raw, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    let payload = header("x-amz-content-sha256");
    if payload != hex(&Sha256::digest(&request.body)) {
        return Some("the digest of the body is wrong".to_owned());
    }
    let mut canonical = format!("{}\n{raw}\n{query}\n", request.method);
    for name in signed.split(';') {
        let _ = writeln!(canonical, "{name}:{}", header(name));
    }
    let _ = write!(canonical, "\n{signed}\n{payload}");
    let date = header("x-amz-date");
    let scope = format!("{}/eu-west-1/s3/aws4_request", &date[..8]);
    let text = format!(
        "AWS4-HMAC-SHA256\n{date}\n{scope}\n{}",
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let mut key = format!("AWS4{SECRET}").into_bytes();
    for part in scope.split('/').chain([text.as_str()]) {
        let by = hmac::Key::new(hmac::HMAC_SHA256, &key);
        key = hmac::sign(&by, part.as_bytes()).as_ref().to_vec();
    }
    let wanted = hex(&key);
    (!given.ends_with(&wanted)).then(|| format!("wanted {wanted}, got {given}"))
}

fn reads(source: &str, command: &str) -> Role {
    let mut role = role(&[command]);
    role.inputs = [(
        "data".to_owned(),
        Input {
            source: Location::parse(source, None).unwrap(),
            target: "/in".to_owned(),
            kind: DataKind::Any,
            mode: InputMode::Mount,
        },
    )]
    .into();
    role
}

fn run(role: Role, endpoint: &str, cache: &Path) -> (ExitReport, Run) {
    let mut run = Run::of(role).variables(&[
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", ID),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", "token"),
        ("OSS_ENDPOINT", endpoint),
        ("OSS_ACCESS_KEY_ID", ID),
        ("OSS_ACCESS_KEY_SECRET", SECRET),
        ("OSS_SESSION_TOKEN", "token"),
    ]);
    run.attempt.settings.cache = Some(cache.to_owned());
    (run.run_to_end(), run)
}

#[test]
fn a_file_is_fetched_with_resume_and_only_once() {
    let scratch = tempfile::tempdir().unwrap();
    let world = Arc::new(Mutex::new(World::default()));
    let content: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
    {
        let mut world = world.lock().unwrap();
        world
            .objects
            .insert("/public/a.bin".to_owned(), content.clone());
        world.cuts = 2;
        world.errors = 1;
    }
    let server = serve(&world);
    let source = format!("{server}/public/a.bin?sig=hidden");
    for _ in 0..2 {
        let (report, run) = run(
            reads(&source, "sha256sum < /in/a.bin"),
            &server,
            scratch.path(),
        );
        assert_eq!(report.exit_code, 0, "{report:#?}");
        let wanted = hex(&Sha256::digest(&content));
        assert!(run.log(Stream::Stdout).starts_with(&wanted));
    }
    let asked = world.lock().unwrap().asked.clone();
    let ranges: Vec<&str> = asked
        .iter()
        .filter_map(|line| Some(line.split_once("bytes=")?.1))
        .collect();
    assert_eq!(ranges, ["150000-", "225000-"], "{asked:?}");
    assert_eq!(
        asked.len(),
        5,
        "an error, three parts, a question: {asked:?}"
    );
}

#[test]
fn what_is_not_there_is_the_reason_without_the_keys_of_the_url() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serve(&Arc::default());
    let source = format!("{server}/public/none?sig=hidden");
    let (report, _) = run(reads(&source, "true"), &server, scratch.path());
    assert_eq!(
        report.start_failure.unwrap(),
        format!(
            "the input `data`: `{server}/public/none` cannot be fetched: the server says 404 Not Found"
        )
    );
}

/// Reads a folder and a file of a bucket, and writes to it.
fn check_bucket(scheme: &str, bucket: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let world = Arc::new(Mutex::new(World::default()));
    for (key, content) in [
        ("in/a & b.csv", "1\n"),
        ("in/sub/c.csv", "2\n"),
        ("input", "3\n"),
    ] {
        let path = format!("/{bucket}/{key}");
        world.lock().unwrap().objects.insert(path, content.into());
    }
    // The list of objects is asked for first.
    world.lock().unwrap().errors = 1;
    let server = serve(&world);
    let command = "cat '/in/a & b.csv' /in/sub/c.csv; mkdir /out/d; echo made > '/out/d/x y'";
    let mut folder = reads(&format!("{scheme}://{bucket}/in"), command);
    folder.outputs = [(
        "model".to_owned(),
        Output {
            target: "/out".to_owned(),
            kind: DataKind::Folder,
            mode: OutputMode::Upload,
            destination: Some(
                Location::parse(&format!("{scheme}://{bucket}/models/1/"), None).unwrap(),
            ),
            register: None,
            append: false,
            pointer: false,
        },
    )]
    .into();
    let (report, ended) = run(folder, &server, scratch.path());
    assert_eq!(report.exit_code, 0, "{report:#?}");
    assert_eq!(ended.log(Stream::Stdout), "1\n2\n");
    let sent = world
        .lock()
        .unwrap()
        .objects
        .get(&format!("/{bucket}/models/1/d/x y"))
        .cloned();
    assert_eq!(sent.as_deref(), Some(b"made\n".as_slice()));
    let collected = local::collected(&ended.folder);
    assert_eq!(
        collected[0].location,
        format!("{scheme}://{bucket}/models/1/")
    );
    // A key that is an object is a file, even if others begin with it.
    let (report, ended) = run(
        reads(&format!("{scheme}://{bucket}/input"), "cat /in/input"),
        &server,
        scratch.path(),
    );
    assert_eq!(report.exit_code, 0, "{report:#?}");
    assert_eq!(ended.log(Stream::Stdout), "3\n");
    // Nothing of the credentials is left behind.
    for folder in [ended.folder.as_path(), scratch.path()] {
        let found = std::process::Command::new("grep")
            .args(["-r", SECRET])
            .arg(folder)
            .output()
            .unwrap();
        assert!(
            found.stdout.is_empty(),
            "{:?}",
            String::from_utf8(found.stdout)
        );
    }
    let none = format!("{scheme}://{bucket}/nothing");
    let (report, _) = run(reads(&none, "true"), &server, scratch.path());
    assert!(report.start_failure.unwrap().ends_with("there is nothing"));
    // What was fetched once is there without the server.
    world.lock().unwrap().is_gone = true;
    let again = reads(&format!("{scheme}://{bucket}/in"), "cat /in/sub/c.csv");
    let (report, ended) = run(again, &server, scratch.path());
    assert_eq!(report.exit_code, 0, "{report:#?}");
    assert_eq!(ended.log(Stream::Stdout), "2\n");
    let other = reads(&format!("{scheme}://{bucket}/other"), "true");
    let (report, _) = run(other, &server, scratch.path());
    let why = report.start_failure.unwrap();
    assert!(why.contains("cannot be fetched"), "{why}");
}

#[test]
fn an_s3_bucket_is_read_and_written_with_signed_requests() {
    check_bucket("s3", "bucket");
}

#[test]
fn an_oss_bucket_is_read_and_written_with_signed_requests() {
    check_bucket("oss", "oss-bucket");
}

#[test]
fn an_output_that_the_server_refuses_is_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serve(&Arc::default());
    let mut role = role(&["echo made > /out/x"]);
    role.outputs = [(
        "model".to_owned(),
        Output {
            target: "/out".to_owned(),
            kind: DataKind::Folder,
            mode: OutputMode::Upload,
            destination: Some(Location::parse("s3://bucket/m", None).unwrap()),
            register: None,
            append: false,
            pointer: false,
        },
    )]
    .into();
    let mut run = Run::of(role).variables(&[
        ("AWS_ENDPOINT_URL", &server),
        ("AWS_ACCESS_KEY_ID", ID),
        ("AWS_SECRET_ACCESS_KEY", "another"),
        ("AWS_REGION", "eu-west-1"),
    ]);
    run.attempt.settings.cache = Some(scratch.path().to_owned());
    let report = run.run_to_end();
    let why = report.collect_failure.unwrap();
    assert!(why.contains("403 Forbidden"), "{why}");
    let kept = Path::new(&local::collected(&run.folder)[0].location).join("x");
    assert_eq!(fs::read(kept).unwrap(), b"made\n");
}
