use super::id;

/// Ids that the official client (azure-ai-ml 1.35.2) gives to such folders.
#[test]
fn ids_are_those_of_the_official_client() {
    type Entries<'a> = &'a [(&'a str, Option<&'a [u8]>)];
    let cases: &[(Entries<'_>, &str)] = &[
        (&[], "ce7bf2d8-de01-8ade-4d5f-f18e6347a3fd"),
        (
            &[("a.txt", Some(b"hello"))],
            "cbc73723-9ed7-5fa2-9bff-9bf37f114670",
        ),
        (
            &[
                ("train.py", Some(b"print(1)\n")),
                ("spec.yaml", Some(b"name: x\n")),
            ],
            "8dd8e65d-504f-9689-407f-7064acaf3ad0",
        ),
        (
            &[
                ("b/c/d.txt", Some(b"1")),
                ("b/a.txt", Some(b"2")),
                ("a.txt", Some(b"3")),
                ("B.txt", Some(b"4")),
            ],
            "972bd150-c201-1fbd-9de4-ee3358e83966",
        ),
        (
            &[
                ("b.txt", Some(b"")),
                ("b/x", Some(b"\x00\xff")),
                ("b-c/y", Some(b"y")),
            ],
            "c97ec9f1-c1c1-5261-cdc8-6b29ce7a6e08",
        ),
        (
            &[("empty", None), ("f", Some(b"f"))],
            "6daae46a-f0e8-87a0-a10b-5296c65d6b1f",
        ),
        (
            &[("ä.txt", Some(b"\xc3\xa4")), ("z", Some(b""))],
            "67e48731-0252-78bd-9d89-09673943e357",
        ),
    ];
    for (entries, wanted) in cases {
        assert_eq!(id(entries.iter().copied()), *wanted, "{entries:?}");
    }
}

#[test]
fn the_order_of_entries_and_the_names_of_folders_do_not_count() {
    let one = [("a/x", Some(&b"1"[..])), ("a/y", Some(&b"2"[..]))];
    let other = [("b/y", Some(&b"2"[..])), ("b/x", Some(&b"1"[..]))];
    assert_eq!(id(one), id(other));
    let named = [("a/x", Some(&b"1"[..])), ("a/z", Some(&b"2"[..]))];
    assert_ne!(id(one), id(named));
}
