//! Requests, and downloads that go on where they were cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::data::copy;
use crate::data::digest::{hex, weigh};
use crate::data::tell::Teller;
use crate::sys;

/// How often something is tried that may pass.
pub(super) const MOST_TRIES: u32 = 5;

/// How long a server may be silent.
const PATIENCE: Duration = Duration::from_mins(1);

/// How often progress is told.
const OFTEN: Duration = Duration::from_millis(500);

/// Where systems keep the certificates that they trust.
const CERTIFICATES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
];

/// Asks servers.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
}

impl Client {
    pub(super) fn new() -> Self {
        let tls = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .root_certs(trusted())
            .build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .tls_config(tls)
            .user_agent("pinnace")
            .accept_encoding("identity")
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_per_read(Some(PATIENCE))
            .build();
        Self {
            agent: config.new_agent(),
        }
    }

    pub(super) fn get(
        &self,
        url: &str,
        headers: &[(String, String)],
    ) -> Result<Response<Body>, String> {
        let mut request = self.agent.get(url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.call().map_err(|error| words(&error, url))
    }

    pub(super) fn put(
        &self,
        url: &str,
        headers: &[(String, String)],
        body: &File,
    ) -> Result<Response<Body>, String> {
        let mut request = self.agent.put(url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send(body).map_err(|error| words(&error, url))
    }
}

/// The system's certificates, or those of `SSL_CERT_FILE`.
fn trusted() -> RootCerts {
    let named = std::env::var("SSL_CERT_FILE").ok();
    let places = named.into_iter().chain(CERTIFICATES.map(str::to_owned));
    for place in places {
        let Ok(text) = fs::read(&place) else { continue };
        let found: Vec<_> = parse_pem(&text)
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        if !found.is_empty() {
            return RootCerts::new_with_certs(&found);
        }
    }
    RootCerts::new_with_certs(&[])
}

/// An error without what a URL may hold beside its place.
fn words(error: &ureq::Error, url: &str) -> String {
    let text = match error {
        ureq::Error::Io(error) => copy::plain(error),
        other => other.to_string(),
    };
    text.replace(url, &shown(url))
}

/// A URL without password and query: both may hold a key.
pub(super) fn shown(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = plain.split_once("://") else {
        return plain.to_owned();
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// What is known of something that was fetched.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Known {
    etag: Option<String>,
    modified: Option<String>,
    /// The name of its content in the cache; none while it is not complete.
    content: Option<String>,
}

impl Known {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn write(&self, path: &Path) -> Result<(), String> {
        let bytes = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        crate::local::write_atomically(path, &bytes).map_err(|error| copy::plain(&error))
    }

    fn of(reply: &Response<Body>) -> Self {
        let header = |name: &str| {
            let value = reply.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        Self {
            etag: header("etag"),
            modified: header("last-modified"),
            content: None,
        }
    }

    /// What says that a part belongs to the whole. A weak mark does not.
    fn validator(&self) -> Option<&str> {
        let strong = self.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
        strong.or(self.modified.as_deref())
    }
}

/// Sends a request with more headers.
pub(super) type Ask<'a> = &'a dyn Fn(&[(String, String)]) -> Result<Response<Body>, String>;

/// How one try ended.
enum Try {
    Done(PathBuf),
    /// It may go better next time.
    Again(String),
    Failed(String),
}

/// Fetches a file into the cache. `name` tells files apart, `what` is shown.
pub(super) fn download(
    name: &str,
    what: &str,
    ask: Ask<'_>,
    cache: &Path,
    teller: &Teller,
) -> Result<PathBuf, String> {
    let folder = cache.join("fetched");
    copy::open_folder(&folder).map_err(|error| error.to_string())?;
    copy::open_folder(&cache.join("content")).map_err(|error| error.to_string())?;
    let id = hex(&Sha256::digest(name.as_bytes()));
    let download = Download {
        known: folder.join(format!("{id}.json")),
        part: folder.join(format!("{id}.part")),
        part_known: folder.join(format!("{id}.part.json")),
        content: cache.join("content"),
        what,
        teller,
    };
    let lock = File::create(folder.join(format!("{id}.lock")))
        .map_err(|error| format!("cannot lock the cache: {error}"))?;
    sys::wait_for_lock(lock.as_fd());
    let mut last = String::new();
    for number in 0..MOST_TRIES {
        if number > 0 {
            std::thread::sleep(Duration::from_millis(100 << number));
        }
        match download.once(ask) {
            Try::Done(path) => return Ok(path),
            Try::Failed(why) => return Err(why),
            Try::Again(why) => last = why,
        }
    }
    Err(last)
}

struct Download<'a> {
    known: PathBuf,
    part: PathBuf,
    part_known: PathBuf,
    content: PathBuf,
    what: &'a str,
    teller: &'a Teller,
}

impl Download<'_> {
    fn once(&self, ask: Ask<'_>) -> Try {
        let mut headers = Vec::new();
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        let known = Known::read(&self.known);
        let content = known.content.as_ref().map(|name| self.content.join(name));
        let content = content.filter(|path| path.exists());
        let had = fs::metadata(&self.part).map_or(0, |part| part.len());
        let part = Known::read(&self.part_known);
        if content.is_some() {
            match (&known.etag, &known.modified) {
                (Some(etag), _) => add("if-none-match", etag.clone()),
                (None, Some(modified)) => add("if-modified-since", modified.clone()),
                (None, None) => {}
            }
        } else if had > 0
            && let Some(validator) = part.validator()
        {
            add("range", format!("bytes={had}-"));
            add("if-range", validator.to_owned());
        }
        let reply = match ask(&headers) {
            Ok(reply) => reply,
            Err(why) => {
                return match content {
                    Some(path) => {
                        let what = self.what;
                        self.teller.note(format!(
                            "`{what}` cannot be reached ({why}); an earlier copy is used"
                        ));
                        Try::Done(path)
                    }
                    None => Try::Again(why),
                };
            }
        };
        match (reply.status().as_u16(), content) {
            (304, Some(path)) => Try::Done(path),
            (200, _) => self.take(reply, 0),
            (206, None) => self.take(reply, had),
            (416, _) => {
                let _ = fs::remove_file(&self.part);
                Try::Again("the server has no such part".to_owned())
            }
            (408 | 429 | 500..=599, _) => Try::Again(refusal(reply)),
            _ => Try::Failed(refusal(reply)),
        }
    }

    /// Takes a body that begins at `from`.
    fn take(&self, reply: Response<Body>, from: u64) -> Try {
        let new = Known::of(&reply);
        let header = |name: &str| reply.headers().get(name)?.to_str().ok();
        let length: Option<u64> = header("content-length").and_then(|text| text.parse().ok());
        let total = length.map(|length| length + from);
        if let Err(why) = new.write(&self.part_known) {
            return Try::Failed(why);
        }
        let opened = OpenOptions::new()
            .create(true)
            .write(true)
            .append(from > 0)
            .truncate(from == 0)
            .open(&self.part);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) => return Try::Failed(copy::at(&self.part)(error).to_string()),
        };
        let mut body = reply.into_body().into_reader();
        let mut buffer = vec![0; 128 << 10];
        let mut done = from;
        let mut told = Instant::now();
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Try::Again(copy::plain(&error)),
            };
            if let Err(error) = file.write_all(buffer.get(..count).unwrap_or_default()) {
                return Try::Failed(copy::at(&self.part)(error).to_string());
            }
            done += count as u64;
            if told.elapsed() >= OFTEN {
                told = Instant::now();
                self.teller.transfer(self.what, done, total);
            }
        }
        if let Some(total) = total.filter(|total| *total != done) {
            return Try::Again(format!("only {done} of {total} bytes came"));
        }
        match self.keep(new) {
            Ok(path) => Try::Done(path),
            Err(error) => Try::Failed(error),
        }
    }

    /// The file is complete: it gets the name of its digest.
    fn keep(&self, mut known: Known) -> Result<PathBuf, String> {
        let weighed = weigh(&self.part).map_err(|error| copy::plain(&error))?;
        let digest = weighed.digest.unwrap_or_default();
        let name = digest.trim_start_matches("sha256:").to_owned();
        let path = self.content.join(&name);
        fs::rename(&self.part, &path).map_err(|error| copy::at(&path)(error).to_string())?;
        let _ = fs::remove_file(&self.part_known);
        known.content = Some(name);
        known.write(&self.known)?;
        Ok(path)
    }
}

/// What a server says when it refuses: its status, and what an object store tells as reason.
pub(super) fn refusal(reply: Response<Body>) -> String {
    let status = reply.status();
    let mut text = String::new();
    let body = reply.into_body().into_reader();
    let _ = body.take(64 << 10).read_to_string(&mut text);
    let told =
        super::bucket::element(&text, "Message").or_else(|| super::bucket::element(&text, "Code"));
    match told {
        Some(told) => format!("the server says {status}: {told}"),
        None => format!("the server says {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_has_no_keys() {
        assert_eq!(
            shown("https://ann:pw@host:8/a/b?sig=secret#x"),
            "https://host:8/a/b"
        );
        assert_eq!(shown("http://host?sig=secret"), "http://host");
    }
}
