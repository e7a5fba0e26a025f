//! The whole way: text → document → overrides → settings → dialect → plan.

use pinnace_core::fidelity::{self, Account, Engine, Honour};
use pinnace_core::origin::Origins;
use pinnace_core::plan::Plan;

use crate::component;
use crate::component::command::{CommandLine, Manner};
use crate::diagnostic::{Allowed, Diagnostic, Diagnostics, Levels, codes};
use crate::library::Library;
use crate::openpai;
use crate::overrides::{self, Overrides};
use crate::processor;
use crate::secrets::{Redactor, SecretValues};
use crate::setting::{self, RunSettingsFile, Setting};
use crate::source::{Source, Sources, Span};
use crate::yaml::{self, Limits, Node};

/// A kind of job file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// An OpenPAI job, protocol version 2.
    OpenPai,
    /// An Azure ML component, version 1.5 or 2.
    Component,
    /// An Alibaba PAI processor.
    Processor,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 3] = [Dialect::OpenPai, Dialect::Component, Dialect::Processor];

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Dialect::OpenPai => "openpai",
            Dialect::Component => "component",
            Dialect::Processor => "processor",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Dialect::OpenPai => "OpenPAI job",
            Dialect::Component => "component",
            Dialect::Processor => "processor",
        }
    }

    /// The dialect of a document, by keys that no other dialect has.
    pub fn detect(root: &Node<'_>) -> Option<Dialect> {
        if ["protocolVersion", "taskRoles"]
            .iter()
            .any(|key| root.get(key).is_some())
        {
            return Some(Dialect::OpenPai);
        }
        if processor::is_processor(root) {
            return Some(Dialect::Processor);
        }
        component::is_component(root).then_some(Dialect::Component)
    }
}

/// Whose mistakes are to be copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Nobody's.
    #[default]
    None,
    /// OpenPAI's: a template that finds nothing stays as it is.
    OpenPai,
    /// Azure ML's: what its clients accept is only a warning.
    AzureMl,
}

/// Where the packages that a file lists come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packages {
    /// The machine has them, or not.
    #[default]
    OfMachine,
    /// They are installed for the tasks.
    Installed,
}

/// What is wanted of a file.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The rules of the tenant. They come before all settings: a flag has the last word.
    pub overrides: Option<OverrideRequest<'a>>,
    /// `-p` and `--set`, in order.
    pub settings: &'a [Setting],
    /// `--input`, in order.
    pub inputs: &'a [Setting],
    /// `--output`, in order.
    pub outputs: &'a [Setting],
    /// `--register`, in order.
    pub registers: &'a [Setting],
    /// `--runsettings`. They come before all settings, so that a flag has the last word.
    pub run_settings: Option<&'a RunSettingsFile>,
    /// `--install-packages`: where the packages that a file lists come from.
    pub packages: Packages,
    /// The absolute folder of the file; relative paths in it are taken from there.
    pub folder: Option<&'a str>,
    /// The absolute folder from which relative paths in flags are taken.
    pub here: Option<&'a str>,
    /// `--compat`
    pub compat: Compat,
    /// `--manner`: what becomes of optional inputs without a value.
    pub manner: Manner,
    /// Where the job would run.
    pub engine: Engine,
    /// Whether a field that the engine does not honour is an error.
    pub strict: bool,
    /// Which warnings are wanted.
    pub levels: &'a Levels,
    /// The dialect, if the user says which.
    pub dialect: Option<Dialect>,
    /// Bounds of what is read.
    pub limits: Limits,
    /// Whether the plan is wanted, or only the problems.
    pub plan: bool,
    /// Whether the plan will be carried out here, so that nothing may be missing.
    pub run: bool,
}

impl<'a> Request<'a> {
    /// Only the problems, of a file without flags that lies nowhere.
    pub fn new(levels: &'a Levels) -> Self {
        Request {
            overrides: None,
            settings: &[],
            inputs: &[],
            outputs: &[],
            registers: &[],
            run_settings: None,
            packages: Packages::OfMachine,
            folder: None,
            here: None,
            compat: Compat::None,
            manner: Manner::default(),
            engine: Engine::Local,
            strict: false,
            levels,
            dialect: None,
            limits: Limits::default(),
            plan: false,
            run: false,
        }
    }
}

/// The rules of a tenant, and what is wanted of them.
#[derive(Clone, Copy, Debug)]
pub struct OverrideRequest<'a> {
    /// The rules.
    pub rules: &'a Overrides,
    /// Whether it is wanted what they change, as a diff.
    pub diff: bool,
}

/// A job, resolved.
#[derive(Debug)]
pub struct Job {
    /// What it was written in.
    pub dialect: Dialect,
    /// What will run.
    pub plan: Plan,
    /// The command line of a component.
    pub command_line: Option<CommandLine>,
    /// Where each of its values comes from.
    pub origins: Origins,
    /// What becomes of every key of the file.
    pub fidelity: Vec<Account>,
    /// The values of its secrets; the plan has their names only.
    pub secrets: SecretValues,
}

/// All that can be said about a file.
#[derive(Debug)]
pub struct Outcome {
    /// The problems, in file order.
    pub diagnostics: Vec<Diagnostic>,
    /// The job, if it was wanted and nothing is wrong with it.
    pub job: Option<Job>,
    /// Keeps secrets out of whatever is shown.
    pub redactor: Redactor,
    /// What the tenant's rules did, if there are any.
    pub overridden: Option<Overridden>,
}

/// What the tenant's rules did to a file.
#[derive(Debug)]
pub struct Overridden {
    /// Every change.
    pub report: overrides::Report,
    /// The changes as a diff, if that was wanted; empty if there are none.
    pub diff: Option<String>,
}

/// Reads a file: every problem in it, or its plan.
pub fn read(
    sources: &Sources,
    source: &Source,
    request: &Request<'_>,
    library: &dyn Library,
) -> Outcome {
    let mut document = yaml::load(source, &request.limits);
    let mut out = std::mem::take(&mut document.diagnostics);
    let mut job = None;
    let mut overridden = None;
    if let Some(root) = &mut document.root {
        if let Some(asked) = request.overrides.filter(|_| document.complete) {
            overridden = Some(override_with(
                asked,
                root,
                source,
                &request.limits,
                &mut out,
            ));
        }
        if let Some(file) = request.run_settings.filter(|_| document.complete) {
            let dialect = request.dialect.or_else(|| Dialect::detect(root));
            setting::merge_run_settings(root, dialect, file, sources, &request.limits, &mut out);
        }
        setting::apply(root, request.settings, sources, &mut out);
    }
    match (&document.root, request.dialect) {
        (Some(root), dialect) => match dialect.or_else(|| Dialect::detect(root)) {
            Some(Dialect::OpenPai) if document.complete => {
                setting::refuse_data(request, "an OpenPAI job", sources, &mut out);
                job = openpai::read_job(
                    root,
                    &document.comments,
                    sources,
                    request,
                    library,
                    &mut out,
                );
            }
            Some(Dialect::Component) if document.complete => {
                job = component::read_job(root, sources, request, library, &mut out);
            }
            Some(Dialect::Processor) if document.complete => {
                job = processor::read_job(root, sources, request, library, &mut out);
            }
            Some(dialect) => partial(dialect, root, sources, &mut out),
            None if document.complete => out.push(unknown_dialect(root)),
            None => {}
        },
        (None, _) if !out.has_errors() => {
            let span = Span::new(source.id(), 0, 0);
            out.push(
                Diagnostic::new(&codes::EMPTY_FILE, span, "the file holds no document")
                    .help("a job file is a YAML mapping that begins with `protocolVersion: 2`"),
            );
        }
        (None, _) => {}
    }
    if let Some(job) = &job
        && request.strict
    {
        losses(job, sources, &mut out);
    }
    if !out.is_empty() || !document.comments.is_empty() {
        let mut allowed = Allowed::default();
        let comments = document.comments.iter().map(|comment| comment.span);
        allowed.read_comments(source, comments, &mut out);
        out.apply(request.levels, &allowed);
    }
    let job = job.filter(|_| !out.has_errors());
    let diagnostics = out.into_vec();
    let redactor = if diagnostics.is_empty() && !request.plan {
        Redactor::default()
    } else {
        Redactor::new(
            sources,
            [(source.id(), document.root.as_ref())],
            &diagnostics,
        )
    };
    Outcome {
        diagnostics,
        job,
        redactor,
        overridden,
    }
}

fn override_with(
    asked: OverrideRequest<'_>,
    root: &mut Node<'_>,
    source: &Source,
    limits: &Limits,
    out: &mut Diagnostics,
) -> Overridden {
    let report = overrides::apply(root, asked.rules, out);
    let diff = asked.diff.then(|| {
        let made = overrides::materialise(source, root, limits);
        overrides::diff(source, &made, limits)
    });
    Overridden { report, diff }
}

/// What can be said of a document whose end is missing: only what lies before the damage, and not
/// that something is missing.
fn partial(dialect: Dialect, root: &Node<'_>, sources: &Sources, out: &mut Diagnostics) {
    let Some(damage) = out.iter().map(|diagnostic| diagnostic.span.start).min() else {
        return;
    };
    let mut found = Diagnostics::default();
    match dialect {
        Dialect::OpenPai => openpai::check_shape(root, sources, &mut found),
        Dialect::Component => component::check_shape(root, sources, &mut found),
        Dialect::Processor => processor::check_shape(root, sources, &mut found),
    }
    for diagnostic in found.into_vec() {
        let absent = diagnostic.code == &codes::MISSING_KEY || diagnostic.code == &codes::TOO_FEW;
        if diagnostic.span.end < damage && !absent {
            out.push(diagnostic);
        }
    }
}

fn unknown_dialect(root: &Node<'_>) -> Diagnostic {
    let span = match root.as_map().and_then(|map| map.entries.first()) {
        Some(entry) => entry.key.span,
        None => Span {
            end: root.span.end.min(root.span.start + 1),
            ..root.span
        },
    };
    Diagnostic::new(
        &codes::UNKNOWN_DIALECT,
        span,
        "this is no job file that Pinnace knows",
    )
    .help("an OpenPAI job has `protocolVersion: 2` and `taskRoles`")
    .help("a component has `inputs`, `outputs` and a `type` such as `CommandComponent`")
    .help("a processor has `image_uri` and `command`")
    .help("`--dialect` with `openpai`, `component` or `processor` reads it as one all the same, and says what is missing")
}

/// Turns every loss into an error, at the key that is lost.
fn losses(job: &Job, sources: &Sources, out: &mut Diagnostics) {
    for account in fidelity::losses(&job.fidelity) {
        let how = match account.status {
            Honour::Approximated => "is only approximated",
            _ => "is not honoured",
        };
        let message = format!("`{}` {how} here", account.path);
        out.push(
            Diagnostic::new(&codes::FIDELITY_LOSS, key_span(sources, account), message)
                .label(account.reason.clone())
                .help("without `--strict` the job runs all the same"),
        );
    }
}

/// Where the key of an account stands. Several flags can have one name; the key tells which is meant.
fn key_span(sources: &Sources, account: &Account) -> Span {
    let key = account.path.rsplit('.').next().unwrap_or_default();
    let mut spans = sources
        .iter()
        .filter(|source| source.name() == account.place.file)
        .map(|source| source.word_at(&account.place));
    let first = spans.next().unwrap_or_default();
    std::iter::once(first)
        .chain(spans)
        .find(|span| sources.slice(*span).starts_with(key))
        .map_or(first, |span| span.part(0, key.len()))
}
