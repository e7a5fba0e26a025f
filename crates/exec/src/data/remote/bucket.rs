//! Object stores: S3 and what speaks like it, and OSS.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use pinnace_core::plan::{Location, Scheme};
use sha2::{Digest as _, Sha256};

use super::client::{Client, refusal};
use super::sign::{self, Asked, Credentials};
use crate::data::copy;
use crate::data::digest::hex;
use crate::data::tell::Teller;
use crate::local::now_micros;

/// More objects than this are not one input.
const MOST_OBJECTS: usize = 1_000_000;

/// A larger file cannot be sent by one request.
const LARGEST: u64 = 5 << 30;

/// How often a file is sent before it is given up.
const MOST_TRIES: u64 = 3;

/// A bucket and how to reach it.
#[derive(Debug)]
pub(super) struct Bucket {
    scheme: Scheme,
    name: String,
    /// `http://host:port`
    server: String,
    /// Whether the name is part of the path, and not of the host.
    in_path: bool,
    region: String,
    credentials: Option<Credentials>,
}

/// Why there is no list of objects.
#[derive(Debug)]
pub(super) enum Refused {
    /// Nobody answered.
    NotReached(String),
    /// It may go better next time.
    ForNow(String),
    /// It will not.
    ForGood(String),
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) key: String,
}

fn set(names: &[&str]) -> Option<String> {
    let value = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    names.iter().find_map(value)
}

fn credentials(id: &[&str], secret: &[&str], token: &[&str]) -> Option<Credentials> {
    Some(Credentials {
        id: set(id)?,
        secret: set(secret)?,
        token: set(token),
    })
}

impl Bucket {
    /// The bucket of a location, and the key in it.
    pub(super) fn of(location: &Location) -> Result<(Self, String), String> {
        let rest = location
            .as_str()
            .split_once("://")
            .map_or("", |(_, rest)| rest);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
        let bucket = match location.scheme() {
            Scheme::Oss => Self::oss(host, query)?,
            _ => Self::s3(host),
        };
        Ok((bucket, key.to_owned()))
    }

    fn s3(name: &str) -> Self {
        let region = set(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let endpoint = set(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
        let in_path = endpoint.is_some();
        let server = match endpoint {
            Some(endpoint) => with_scheme(&endpoint),
            None => format!("https://{name}.s3.{region}.amazonaws.com"),
        };
        Self {
            scheme: Scheme::S3,
            name: name.to_owned(),
            server,
            in_path,
            region,
            credentials: credentials(
                &["AWS_ACCESS_KEY_ID"],
                &["AWS_SECRET_ACCESS_KEY"],
                &["AWS_SESSION_TOKEN"],
            ),
        }
    }

    /// The endpoint stands behind the bucket's name, in the query, or in the environment.
    fn oss(host: &str, query: &str) -> Result<Self, String> {
        let (name, own) = match host.split_once('.') {
            Some((name, endpoint)) => (name, Some(endpoint.to_owned())),
            None => (host, None),
        };
        let asked = query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            matches!(key, "endpoint" | "host").then(|| value.to_owned())
        });
        let endpoint = own
            .or(asked)
            .or_else(|| set(&["OSS_ENDPOINT"]))
            .ok_or("no endpoint is known for OSS; `OSS_ENDPOINT` names one, such as `oss-cn-hangzhou.aliyuncs.com`")?;
        let server = with_scheme(&endpoint);
        let address = server.split_once("://").map_or("", |(_, address)| address);
        let machine = match address.starts_with('[') {
            true => address.trim_start_matches('[').split(']').next(),
            false => address.split(':').next(),
        };
        let machine = machine.unwrap_or_default();
        let in_path = machine == "localhost" || machine.parse::<std::net::IpAddr>().is_ok();
        let server = match (in_path, server.split_once("://")) {
            (false, Some((scheme, address))) => format!("{scheme}://{name}.{address}"),
            _ => server,
        };
        Ok(Self {
            scheme: Scheme::Oss,
            name: name.to_owned(),
            server,
            in_path,
            region: String::new(),
            credentials: credentials(
                &["OSS_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_ID"],
                &["OSS_ACCESS_KEY_SECRET", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
                &["OSS_SESSION_TOKEN", "ALIBABA_CLOUD_SECURITY_TOKEN"],
            ),
        })
    }

    /// An object's name for people.
    pub(super) fn name_of(&self, key: &str) -> String {
        let scheme = if self.scheme == Scheme::Oss {
            "oss"
        } else {
            "s3"
        };
        format!("{scheme}://{}/{key}", self.name)
    }

    /// The URL and the headers of a request. The query is sorted by name.
    pub(super) fn request(
        &self,
        method: &str,
        key: &str,
        query: &[(&str, &str)],
        payload: &str,
    ) -> (String, Vec<(String, String)>) {
        let mut path = String::from("/");
        if self.in_path {
            path.push_str(&self.name);
            path.push('/');
        }
        path.push_str(&sign::encoded(key, "/"));
        let query: Vec<String> = query
            .iter()
            .map(|(name, value)| {
                format!("{}={}", sign::encoded(name, ""), sign::encoded(value, ""))
            })
            .collect();
        let query = query.join("&");
        let url = match query.is_empty() {
            true => format!("{}{path}", self.server),
            false => format!("{}{path}?{query}", self.server),
        };
        let seconds = now_micros() / 1_000_000;
        let headers = match (&self.credentials, self.scheme) {
            (None, _) => Vec::new(),
            (Some(credentials), Scheme::Oss) => self.signed_oss(method, key, credentials, seconds),
            (Some(credentials), _) => {
                let asked = Asked {
                    method,
                    path: &path,
                    query: &query,
                    headers: &[],
                    payload,
                };
                self.signed_s3(asked, credentials, seconds)
            }
        };
        (url, headers)
    }

    fn signed_s3(
        &self,
        asked: Asked<'_>,
        credentials: &Credentials,
        seconds: u64,
    ) -> Vec<(String, String)> {
        let date = sign::aws_date(seconds);
        let host = self.server.split_once("://").map_or("", |(_, host)| host);
        let mut headers = vec![
            ("host".to_owned(), host.to_owned()),
            ("x-amz-content-sha256".to_owned(), asked.payload.to_owned()),
            ("x-amz-date".to_owned(), date.clone()),
        ];
        if let Some(token) = &credentials.token {
            headers.push(("x-amz-security-token".to_owned(), token.clone()));
        }
        let asked = Asked {
            headers: &headers,
            ..asked
        };
        let signature = sign::aws(asked, credentials, &self.region, &date);
        // The client writes the host itself.
        headers.remove(0);
        headers.push(("authorization".to_owned(), signature));
        headers
    }

    fn signed_oss(
        &self,
        method: &str,
        key: &str,
        credentials: &Credentials,
        seconds: u64,
    ) -> Vec<(String, String)> {
        let date = sign::http_date(seconds);
        let token = credentials.token.iter();
        let special: Vec<(String, String)> = token
            .map(|token| ("x-oss-security-token".to_owned(), token.clone()))
            .collect();
        let kind = content_type(method);
        let resource = format!("/{}/{key}", self.name);
        let signature = sign::oss(method, ("", kind, &date), &special, &resource, credentials);
        let mut headers = special;
        headers.push(("date".to_owned(), date));
        headers.push(("authorization".to_owned(), signature));
        headers
    }

    /// What tells objects apart, also those of two servers.
    pub(super) fn id_of(&self, key: &str) -> String {
        format!("{} {}", self.server, self.name_of(key))
    }

    /// All objects whose keys begin so.
    pub(super) fn list(&self, client: &Client, prefix: &str) -> Result<Vec<Object>, Refused> {
        let mut objects = Vec::new();
        let mut next = String::new();
        loop {
            let query: Vec<(&str, &str)> = match (self.scheme, next.is_empty()) {
                (Scheme::Oss, true) => vec![("max-keys", "1000"), ("prefix", prefix)],
                (Scheme::Oss, false) => {
                    vec![("marker", &next), ("max-keys", "1000"), ("prefix", prefix)]
                }
                (_, true) => vec![("list-type", "2"), ("prefix", prefix)],
                (_, false) => vec![
                    ("continuation-token", &next),
                    ("list-type", "2"),
                    ("prefix", prefix),
                ],
            };
            let (url, headers) = self.request("GET", "", &query, sign::EMPTY);
            let reply = client.get(&url, &headers).map_err(Refused::NotReached)?;
            let status = reply.status();
            if !status.is_success() {
                let passes = status.is_server_error() || status.as_u16() == 429;
                let why = refusal(reply);
                return Err(match passes {
                    true => Refused::ForNow(why),
                    false => Refused::ForGood(why),
                });
            }
            let mut text = String::new();
            let body = reply.into_body().into_reader();
            body.take(64 << 20)
                .read_to_string(&mut text)
                .map_err(|error| Refused::ForNow(copy::plain(&error)))?;
            for part in text.split("<Contents>").skip(1) {
                objects.extend(element(part, "Key").map(|key| Object { key }));
            }
            if objects.len() > MOST_OBJECTS {
                let why = format!("there are more than {MOST_OBJECTS} objects");
                return Err(Refused::ForGood(why));
            }
            let is_cut = element(&text, "IsTruncated").as_deref() == Some("true");
            let following = match self.scheme {
                Scheme::Oss => element(&text, "NextMarker"),
                _ => element(&text, "NextContinuationToken"),
            };
            match following.filter(|following| is_cut && *following != next) {
                Some(following) => next = following,
                None => return Ok(objects),
            }
        }
    }

    /// Sends a file.
    pub(super) fn put(
        &self,
        client: &Client,
        key: &str,
        path: &Path,
        teller: &Teller,
    ) -> Result<(), String> {
        let words = |error: std::io::Error| copy::at(path)(error).to_string();
        let size = path.metadata().map_err(words)?.len();
        if size > LARGEST {
            return Err(format!("`{}` is larger than 5 GiB", path.display()));
        }
        let payload = match self.scheme {
            Scheme::S3 => digest(path).map_err(words)?,
            _ => String::new(),
        };
        let name = self.name_of(key);
        teller.transfer(&name, 0, Some(size));
        let mut last = String::new();
        for number in 0..MOST_TRIES {
            if number > 0 {
                std::thread::sleep(std::time::Duration::from_millis(200 << number));
            }
            let file = File::open(path).map_err(words)?;
            let (url, mut headers) = self.request("PUT", key, &[], &payload);
            headers.push(("content-type".to_owned(), content_type("PUT").to_owned()));
            match client.put(&url, &headers, &file) {
                Ok(reply) if reply.status().is_success() => {
                    teller.transfer(&name, size, Some(size));
                    return Ok(());
                }
                Ok(reply) if reply.status().is_server_error() => last = refusal(reply),
                Ok(reply) => return Err(refusal(reply)),
                Err(why) => last = why,
            }
        }
        Err(last)
    }
}

fn with_scheme(endpoint: &str) -> String {
    let endpoint = endpoint.trim_end_matches('/');
    match endpoint.contains("://") {
        true => endpoint.to_owned(),
        false => format!("https://{endpoint}"),
    }
}

/// The type of what is sent; it is part of the signature for OSS.
fn content_type(method: &str) -> &'static str {
    match method {
        "PUT" => "application/octet-stream",
        _ => "",
    }
}

fn digest(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            count => hasher.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}

/// The text of the first element of this name. The answers of object stores have neither attributes nor nesting of one name.
pub(super) fn element(text: &str, name: &str) -> Option<String> {
    let start = text.find(&format!("<{name}>"))? + name.len() + 2;
    let rest = text.get(start..)?;
    let inner = rest.get(..rest.find(&format!("</{name}>"))?)?;
    let plain = inner
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_and_read() {
        let text = "<A><Key>a &amp;lt; b</Key><Size>1</Size></A>";
        assert_eq!(element(text, "Key").as_deref(), Some("a &lt; b"));
        assert_eq!(element(text, "Other"), None);
        assert_eq!(element("<Key>cut", "Key"), None);
    }

    #[test]
    fn an_oss_bucket_may_name_its_endpoint() {
        let place = |text: &str| {
            let location = Location::parse(text, None).unwrap();
            let (bucket, key) = Bucket::of(&location).unwrap();
            let (url, _) = bucket.request("GET", &key, &[], "");
            url
        };
        assert_eq!(
            place("oss://data.oss-cn-beijing.aliyuncs.com/a b/c"),
            "https://data.oss-cn-beijing.aliyuncs.com/a%20b/c"
        );
        assert_eq!(
            place("oss://data/c?endpoint=http://127.0.0.1:9"),
            "http://127.0.0.1:9/data/c"
        );
    }
}
