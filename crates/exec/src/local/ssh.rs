//! The keys with which tasks of one attempt log in to each other.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::contract::Peer;

/// Makes a key pair and the `Host ROLE-INDEX` entries. If it fails, the hook that needs them says so.
pub(super) fn make_keys(folder: &Path, peers: &[Peer], user: &str) {
    if fs::create_dir_all(folder).is_err() {
        return;
    }
    let key = folder.join("id_ed25519");
    let _ = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "pinnace", "-f"])
        .arg(&key)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // The name of the account counts, not how the submitter calls themselves.
    let account = nix::unistd::User::from_uid(nix::unistd::geteuid());
    let login = match &account {
        Ok(Some(account)) => &account.name,
        _ => user,
    };
    let mut config = String::new();
    for peer in peers {
        let port = peer.ports.get("ssh").and_then(|ports| ports.first());
        let _ = write!(
            config,
            "Host {}-{}\n  HostName {}\n  Port {}\n  User {login}\n  \
             StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
            peer.role,
            peer.index,
            peer.address,
            port.copied().unwrap_or(22),
        );
    }
    let _ = fs::write(folder.join("config"), config);
}
