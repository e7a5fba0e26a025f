//! Signatures of requests: AWS Signature Version 4, and the header signature of OSS, version 1.

use std::fmt::Write as _;

use ring::hmac;
use sha2::{Digest as _, Sha256};

use crate::data::digest::hex;
use crate::log::civil;

/// The digest of nothing.
pub(super) const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Who asks. It is never shown.
#[derive(Clone)]
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

/// A request to be signed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) method: &'a str,
    /// Percent-encoded.
    pub(super) path: &'a str,
    /// Percent-encoded and sorted.
    pub(super) query: &'a str,
    /// Lower-case names, sorted.
    pub(super) headers: &'a [(String, String)],
    /// The digest of the body.
    pub(super) payload: &'a str,
}

/// The header `Authorization` for S3. `date` is like `20130524T000000Z`.
pub(super) fn aws(asked: Asked<'_>, credentials: &Credentials, region: &str, date: &str) -> String {
    let mut canonical = format!("{}\n{}\n{}\n", asked.method, asked.path, asked.query);
    for (name, value) in asked.headers {
        let _ = writeln!(canonical, "{name}:{}", value.trim());
    }
    let names: Vec<&str> = asked
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let names = names.join(";");
    let _ = write!(canonical, "\n{names}\n{}", asked.payload);
    let day = date.get(..8).unwrap_or_default();
    let scope = format!("{day}/{region}/s3/aws4_request");
    let text = format!(
        "AWS4-HMAC-SHA256\n{date}\n{scope}\n{}",
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let mut key = format!("AWS4{}", credentials.secret).into_bytes();
    for part in [day, region, "s3", "aws4_request"] {
        key = sha256(&key, part.as_bytes());
    }
    let signature = hex(&sha256(&key, text.as_bytes()));
    format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        credentials.id
    )
}

/// The header `Authorization` for OSS. `resource` is `/bucket/key`, not encoded; `headers` those that begin with `x-oss-`, sorted.
pub(super) fn oss(
    method: &str,
    (md5, kind, date): (&str, &str, &str),
    headers: &[(String, String)],
    resource: &str,
    credentials: &Credentials,
) -> String {
    let mut text = format!("{method}\n{md5}\n{kind}\n{date}\n");
    for (name, value) in headers {
        let _ = writeln!(text, "{name}:{}", value.trim());
    }
    text.push_str(resource);
    let key = hmac::Key::new(
        hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        credentials.secret.as_bytes(),
    );
    let signature = base64(hmac::sign(&key, text.as_bytes()).as_ref());
    format!("OSS {}:{signature}", credentials.id)
}

fn sha256(key: &[u8], text: &[u8]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text).as_ref().to_vec()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let is_filled = place <= chunk.len();
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if is_filled { char::from(digit) } else { '=' });
        }
    }
    out
}

/// Percent-encodes all but letters, digits and `-._~`, and the characters of `keep`.
pub(super) fn encoded(text: &str, keep: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let char = char::from(byte);
        if char.is_ascii_alphanumeric() || "-._~".contains(char) || keep.contains(char) {
            out.push(char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// `20130524T000000Z`
pub(super) fn aws_date(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// `Thu, 17 Nov 2005 18:49:58 GMT`
pub(super) fn http_date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let days = seconds / 86_400;
    let (year, month, day) = civil(days);
    let weekday = DAYS[(days % 7) as usize];
    let month = MONTHS[(month as usize + 11) % 12];
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    /// The examples of the documentation of S3.
    #[test]
    fn the_signatures_for_s3_are_those_of_its_documentation() {
        let credentials = Credentials {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: None,
        };
        let date = "20130524T000000Z";
        let common = [
            header("x-amz-content-sha256", EMPTY),
            header("x-amz-date", date),
        ];
        let host = header("host", "examplebucket.s3.amazonaws.com");
        let sign = |path, query, headers: &[(String, String)]| {
            let asked = Asked {
                method: "GET",
                path,
                query,
                headers,
                payload: EMPTY,
            };
            aws(asked, &credentials, "us-east-1", date)
        };
        let with_range = [&[host.clone(), header("range", "bytes=0-9")], &common[..]].concat();
        let signed = sign("/test.txt", "", &with_range);
        assert!(
            signed.ends_with("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            "{signed}"
        );
        let signed = sign("/", "max-keys=2&prefix=J", &[&[host], &common[..]].concat());
        assert!(
            signed.ends_with("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
            "{signed}"
        );
    }

    /// The example of the documentation of OSS.
    #[test]
    fn the_signature_for_oss_is_that_of_its_documentation() {
        let credentials = Credentials {
            id: "44CF9590006BF252F707".to_owned(),
            secret: "OtxrzxIsfpFjA7SwPzILwy8Bw21TLhquhboDYROV".to_owned(),
            token: None,
        };
        let signed = oss(
            "PUT",
            (
                "ODBGOERFMDMzQTczRUY3NUE3NzA5QzdFNUYzMDQxNEM=",
                "text/html",
                "Thu, 17 Nov 2005 18:49:58 GMT",
            ),
            &[
                header("x-oss-magic", "abracadabra"),
                header("x-oss-meta-author", "foo@bar.com"),
            ],
            "/oss-example/nelson",
            &credentials,
        );
        assert_eq!(
            signed,
            "OSS 44CF9590006BF252F707:26NBxoKdsyly4EDv6inkoDft/yA="
        );
    }

    #[test]
    fn dates_and_digits_are_right() {
        assert_eq!(aws_date(1_369_353_600), "20130524T000000Z");
        assert_eq!(http_date(1_132_253_398), "Thu, 17 Nov 2005 18:49:58 GMT");
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(encoded("a b/ü", "/"), "a%20b/%C3%BC");
    }
}
