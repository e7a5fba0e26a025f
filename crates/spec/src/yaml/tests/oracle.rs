//! Builds the tree that another parser's events mean, in the form of [`super::show`], so that two
//! readers can be compared.

use std::collections::HashMap;

use crate::yaml::Style;

/// What a parser says, one step at a time.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Scalar {
        text: String,
        style: Style,
        anchor: Option<String>,
    },
    ListStart {
        anchor: Option<String>,
    },
    MapStart {
        anchor: Option<String>,
    },
    End,
    Alias(String),
}

/// A tree of the other parser.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Scalar(String, Style),
    List(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
}

/// Why Pinnace deliberately reads a tree otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A key that is a list, a mapping or nothing.
    Key,
    /// A key twice.
    Duplicate,
    /// A merge key with something else than mappings.
    Merge,
    /// An alias inside what it repeats.
    Endless,
    /// More nodes or levels than the limits allow.
    Size,
}

pub(super) struct Builder {
    events: std::vec::IntoIter<Event>,
    anchors: HashMap<String, Option<Tree>>,
    left: usize,
}

impl Builder {
    pub(super) fn new(events: Vec<Event>) -> Self {
        Builder {
            events: events.into_iter(),
            anchors: HashMap::new(),
            left: 20_000,
        }
    }

    /// The next node; nothing at the end.
    pub(super) fn node(&mut self) -> Result<Option<Tree>, Refusal> {
        let Some(event) = self.events.next() else {
            return Ok(None);
        };
        let (tree, anchor) = match event {
            Event::End => return Ok(None),
            Event::Alias(name) => {
                let tree = self
                    .anchors
                    .get(&name)
                    .cloned()
                    .flatten()
                    .ok_or(Refusal::Endless)?;
                self.left = self.left.checked_sub(size(&tree)).ok_or(Refusal::Size)?;
                return Ok(Some(tree));
            }
            Event::Scalar {
                text,
                style,
                anchor,
            } => (Tree::Scalar(text, style), anchor),
            Event::ListStart { anchor } => {
                self.open(anchor.as_ref());
                let mut list = Vec::new();
                while let Some(item) = self.node()? {
                    list.push(item);
                }
                (Tree::List(list), anchor)
            }
            Event::MapStart { anchor } => {
                self.open(anchor.as_ref());
                let mut map = Vec::new();
                while let Some(key) = self.node()? {
                    map.push((key, self.node()?.expect("a value for each key")));
                }
                (Tree::Map(map), anchor)
            }
        };
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, Some(tree.clone()));
        }
        Ok(Some(tree))
    }

    fn open(&mut self, anchor: Option<&String>) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor.clone(), None);
        }
    }
}

fn size(tree: &Tree) -> usize {
    1 + match tree {
        Tree::Scalar(..) => 0,
        Tree::List(list) => list.iter().map(size).sum(),
        Tree::Map(map) => map.iter().map(|(_, value)| size(value)).sum(),
    }
}

/// The tree as [`super::show`] would show it, tags left out.
pub(super) fn show(tree: &Tree) -> Result<String, Refusal> {
    Ok(match tree {
        Tree::Scalar(text, style) => super::show_scalar(text, *style),
        Tree::List(list) => {
            let items: Result<Vec<_>, _> = list.iter().map(show).collect();
            format!("[{}]", items?.join(", "))
        }
        Tree::Map(_) => {
            let entries: Vec<_> = entries(tree)?
                .into_iter()
                .map(|(key, value)| format!("{key}: {value}"))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    })
}

fn entries(tree: &Tree) -> Result<Vec<(String, String)>, Refusal> {
    let Tree::Map(map) = tree else {
        return Err(Refusal::Merge);
    };
    let mut entries: Vec<(String, String)> = Vec::new();
    let mut merges = Vec::new();
    for (key, value) in map {
        match key {
            Tree::Scalar(text, Style::Plain) if text == "<<" => merges.push(value),
            Tree::Scalar(text, style) if !text.is_empty() || *style != Style::Plain => {
                if entries.iter().any(|(other, _)| other == text) {
                    return Err(Refusal::Duplicate);
                }
                entries.push((text.clone(), show(value)?));
            }
            _ => return Err(Refusal::Key),
        }
    }
    for merge in merges {
        let list = match merge {
            Tree::List(list) => list.as_slice(),
            other => std::slice::from_ref(other),
        };
        for map in list {
            for (key, value) in self::entries(map)? {
                if !entries.iter().any(|(other, _)| *other == key) {
                    entries.push((key, value));
                }
            }
        }
    }
    Ok(entries)
}
