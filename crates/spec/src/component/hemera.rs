//! Hemera components: the module behind the id, the program in it, and the cluster and the queue that the command
//! names.

use std::ops::Range;

use pinnace_core::text::Text;

use super::check::Templates;
use super::command::{Argument, Site, Template};
use super::entry::{self, NoStart};
use super::model::{Component, Kind};
use super::read::at;
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, codes};
use crate::job::Request;
use crate::library::{Library, Module, Registered};
use crate::source::{Sources, Span};
use crate::yaml::Node;

/// What stands before the name of the cluster. It is no variable, and nobody puts a value in its place.
const CLUSTER: &str = "%CLUSTER%=";

/// The names of the argument that says the queue, in small letters and without what stands before them.
const QUEUES: [&str; 3] = ["jobqueue", "queue", "yarnqueue"];

/// The id of the module that a Hemera component stands for.
pub(super) fn id<'d>(component: &Component<'d>) -> Option<(&'d Node<'d>, &'d str)> {
    let node = at(component.root, "hemera.ref_id").filter(|_| component.kind == Kind::Hemera)?;
    Some((node, node.as_text()?))
}

/// The module that a Hemera component stands for, if it is registered.
pub(super) fn module(component: &Component<'_>, library: &dyn Library) -> Option<Module> {
    let (_, id) = id(component)?;
    match library.module(id) {
        Registered::Module(module) => Some(module),
        Registered::Missing { .. } | Registered::NoRegister => None,
    }
}

/// The word of a command that is the program, and its number among the words.
pub(super) fn program<'t>(template: &Template<'t>) -> Option<(Argument<'t>, usize)> {
    let mut arguments = template.arguments();
    let words: Vec<&str> = arguments.iter().map(|argument| argument.written).collect();
    let place = entry::place(&words);
    (place < arguments.len()).then(|| (arguments.swap_remove(place), place))
}

/// Reports a module that is not registered, and one without the program that the command starts.
pub(super) fn check(
    component: &Component<'_>,
    templates: &Templates<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) {
    let Some((node, id)) = id(component).filter(|(_, id)| super::check::is_guid(id)) else {
        return;
    };
    let mut report = |mut diagnostic: Diagnostic| {
        // A spec is right also where its module is not.
        if !request.run {
            diagnostic.severity = Severity::Warning;
        }
        out.push(diagnostic);
    };
    match library.module(id) {
        Registered::Module(module) => {
            let Some((line, template)) = templates.first() else {
                return;
            };
            if let (Some((word, _)), Some(site)) =
                (program(template), Site::new(line.node, sources))
                && let Err(why) = entry::start(word.written, &module.folder, library)
            {
                report(no_program(site.span(&word.range), node.span, &why));
            }
        }
        Registered::Missing { others } => report(not_registered(node.span, id, &others)),
        // Where no module was ever registered, nobody wants to run one.
        Registered::NoRegister if !request.run => {}
        Registered::NoRegister => report(not_registered(node.span, id, &[])),
    }
}

fn not_registered(span: Span, id: &str, others: &[String]) -> Diagnostic {
    let message = format!("no module `{id}` is registered here");
    let diagnostic = Diagnostic::new(&codes::MISSING_MODULE, span, message).help(format!(
        "`pinnace module add DIR --id {id}` registers a folder"
    ));
    match closest(id, others.iter().map(String::as_str)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if others.is_empty() => diagnostic,
        None => diagnostic.help("`pinnace module ls` lists those that are registered"),
    }
}

fn no_program(word: Span, id: Span, why: &NoStart) -> Diagnostic {
    let new = |message: String| {
        Diagnostic::new(&codes::NO_MODULE_PROGRAM, word, message)
            .related(id, "the module is the one with this id")
    };
    match why {
        NoStart::Nothing => new("the command names no program".to_owned()),
        NoStart::Missing { name } => new(format!("the module has no program `{name}`"))
            .help("`pinnace module show ID` lists its files; `pinnace module add … --replace` adds them anew"),
        NoStart::Foreign { name, wanted, not_executable } => {
            let diagnostic = new(format!("`{name}` of the module cannot be started on this machine"));
            match &not_executable[..] {
                [] => diagnostic.help(format!(
                    "put a program for this machine beside it, called {}, and add the module again",
                    wanted.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
                )),
                [file, ..] => diagnostic.help(format!(
                    "`{file}` may not be started: make it executable (`chmod +x {file}`) and add the module again"
                )),
            }
        }
    }
}

/// The cluster that a word of a command names.
fn cluster_in(word: &str) -> Option<&str> {
    word.strip_prefix(CLUSTER)
}

/// What a word says of the queue.
enum Queue<'w> {
    /// Its name.
    Named(&'w str),
    /// That the next word is its name.
    Next,
}

/// What a word says of the queue, if it is the argument for that.
fn queue_in(word: &str) -> Option<Queue<'_>> {
    let flag = word.strip_prefix('-')?;
    let (name, value) = match flag.split_once([':', '=']) {
        Some((name, value)) => (name, Queue::Named(value)),
        None => (flag, Queue::Next),
    };
    let name: String = name
        .chars()
        .filter(|char| !matches!(char, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect();
    QUEUES.contains(&&*name).then_some(value)
}

/// The cluster that the words of a command name.
pub(super) fn cluster(words: &[Text]) -> Option<String> {
    words
        .iter()
        .filter_map(|word| cluster_in(word.as_literal()?))
        .find(|name| !name.is_empty())
        .map(str::to_owned)
}

/// The queue that the words of a command name: `-JobQueue NAME`, `-Queue:NAME`, `--queue=NAME` and the like.
pub(super) fn queue(words: &[Text]) -> Option<String> {
    let mut words = words
        .iter()
        .map(|word| word.as_literal().unwrap_or_default());
    while let Some(word) = words.next() {
        if let Some(value) = queue_in(word) {
            let value = match value {
                Queue::Named(name) => Some(name),
                Queue::Next => words.next(),
            };
            return value.filter(|value| !value.is_empty()).map(str::to_owned);
        }
    }
    None
}

/// The bytes of a command that name its cluster.
pub(super) fn cluster_range(template: &Template<'_>) -> Option<Range<usize>> {
    let arguments = template.arguments().into_iter();
    let mut clusters = arguments.filter(|argument| cluster_in(argument.written).is_some());
    clusters.next().map(|argument| argument.range)
}

/// The bytes of a command that name its queue.
pub(super) fn queue_range(template: &Template<'_>) -> Option<Range<usize>> {
    let mut arguments = template.arguments().into_iter();
    let (flag, value) =
        arguments.find_map(|argument| Some((argument.range, queue_in(argument.written)?)))?;
    match value {
        Queue::Named(_) => Some(flag),
        Queue::Next => arguments.next().map(|argument| argument.range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Text> {
        line.split(' ').map(Text::from).collect()
    }

    #[test]
    fn cluster_and_queue_are_read_from_the_words() {
        let line = words("run.bat %CLUSTER%=yarn_prod_bn2 -JobQueue AdsCP -x 1");
        assert_eq!(cluster(&line).as_deref(), Some("yarn_prod_bn2"));
        assert_eq!(queue(&line).as_deref(), Some("AdsCP"));
        for line in [
            "-Queue:a",
            "--job-queue a",
            "-_JobQueue a",
            "--yarn_queue=a",
        ] {
            assert_eq!(queue(&words(line)).as_deref(), Some("a"), "{line}");
        }
        for line in ["-JobQueue", "JobQueue a", "-QueueSize 3", "-JobQueue "] {
            assert_eq!(queue(&words(line)), None, "{line}");
        }
        assert_eq!(cluster(&words("%CLUSTER%= x")), None);
    }
}
