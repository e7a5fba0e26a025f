//! The flags that say for which tenant a job is, and the overrides that follow from them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use pinnace_spec::diagnostic::render::Report;
use pinnace_spec::diagnostic::{
    Allowed, Diagnostic, Diagnostics, Levels, Severity, codes, suggest,
};
use pinnace_spec::hydra::{self, Composed, Files};
use pinnace_spec::overrides::{self, Overrides, SECTION, Tenant, Used};
use pinnace_spec::secrets::Redactor;
use pinnace_spec::source::{Sources, Span};
use pinnace_spec::yaml::{self, Document, Entry, Limits};

use crate::config_folder::ConfigFolder;
use crate::files::{in_words, missing, shown};

/// Where Azure ML's own client looks for the configuration of a workspace, in a folder and those above it.
const WORKSPACE_FILES: [&str; 3] = [
    "config.json",
    ".azureml/config.json",
    "aml_config/config.json",
];

/// For which tenant a file is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tenant overrides")]
pub(crate) struct TenantArgs {
    /// A file whose section `tenant_overrides` changes values for the tenant
    #[arg(long, value_name = "FILE")]
    overrides: Option<PathBuf>,

    /// The main file of a configuration with groups, such as `config/experiments/train.yaml`
    ///
    /// Its section `tenant_overrides` changes values for the tenant, which is the one of its group `aml`. Words such as
    /// `aml=eyeson` or `run.name=x` among the arguments change the configuration.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config_dir", "config_name"])]
    config: Option<PathBuf>,

    /// The folder of a configuration with groups; goes with `--config-name`
    #[arg(long, value_name = "DIR", requires = "config_name")]
    config_dir: Option<PathBuf>,

    /// The main file in the folder of the configuration, such as `experiments/train`
    #[arg(long, value_name = "NAME", requires = "config_dir")]
    config_name: Option<String>,

    /// The tenant: its id, or the name of a workspace configuration
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,

    /// The `config.json` of an Azure ML workspace, to tell the tenant from
    #[arg(long, value_name = "FILE")]
    workspace: Option<PathBuf>,

    /// Show what the overrides change, as a diff
    #[arg(long)]
    pub(crate) show_diff: bool,

    /// Words among the arguments that change the configuration.
    #[arg(skip)]
    pub(crate) words: Vec<String>,
}

/// Parts the words that change a configuration from the other arguments.
pub(crate) fn split_words(arguments: Vec<OsString>) -> (Vec<String>, Vec<OsString>) {
    let mut words = Vec::new();
    let mut others = Vec::new();
    for argument in arguments {
        match argument.to_str().filter(|text| is_word(text)) {
            Some(word) => words.push(word.to_owned()),
            None => others.push(argument),
        }
    }
    (words, others)
}

/// Whether an argument changes a configuration, and is not the name of a file.
pub(crate) fn is_word(argument: &str) -> bool {
    let is_sign = argument.starts_with(['+', '~']);
    (is_sign || argument.contains('=')) && !Path::new(argument).exists()
}

/// The overrides of the tenant, with what is wrong with them.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) overrides: Overrides,
    pub(crate) tenant: Tenant,
    problems: Vec<Diagnostic>,
}

/// The problems of a configuration, ready to be shown.
#[derive(Debug)]
pub(crate) struct ConfigProblems {
    pub(crate) diagnostics: Vec<Diagnostic>,
    sources: Sources,
    redactor: Redactor,
}

impl ConfigProblems {
    pub(crate) fn report(&self) -> Report<'_> {
        Report {
            diagnostics: &self.diagnostics,
            sources: &self.sources,
            redactor: &self.redactor,
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        let mut severities = self.diagnostics.iter().map(|found| found.severity);
        severities.any(|severity| severity == Severity::Error)
    }
}

impl TenantArgs {
    /// Whether any configuration is named.
    fn is_used(&self) -> bool {
        self.overrides.is_some() || self.config.is_some() || self.config_dir.is_some()
    }

    /// Reads what the flags name. `None` if they name nothing; an error is about their use.
    pub(crate) fn load(&self, limits: &Limits) -> Result<Option<Loaded>, String> {
        if !self.is_used() {
            let idle = match self {
                TenantArgs {
                    tenant: Some(_), ..
                } => "--tenant",
                TenantArgs {
                    workspace: Some(_), ..
                } => "--workspace",
                TenantArgs {
                    show_diff: true, ..
                } => "--show-diff",
                TenantArgs { words, .. } if !words.is_empty() => {
                    return Err(format!(
                        "`{}` changes a configuration, but none is named; `--config FILE` names one",
                        words.join(" ")
                    ));
                }
                _ => return Ok(None),
            };
            return Err(format!(
                "`{idle}` needs `--overrides FILE` or `--config FILE`"
            ));
        }
        let sources = Sources::default();
        let mut out = Diagnostics::default();
        let (folder, main) = match (&self.config, &self.config_dir, &self.config_name) {
            (Some(file), _, _) => {
                let found = ConfigFolder::of_main_file(file);
                let (folder, main) = found.map_err(|error| unreadable(file, &error))?;
                (Some(folder), main)
            }
            (None, Some(folder), Some(name)) => {
                let folder = ConfigFolder::new(folder.clone());
                let name = name.trim_end_matches(".yaml").to_owned();
                match folder.text(&name) {
                    Some(Ok(_)) => (Some(folder), name),
                    Some(Err(reason)) => {
                        return Err(format!("the configuration `{name}`: {reason}"));
                    }
                    None => return Err(format!("there is no configuration `{name}`")),
                }
            }
            _ => (None, String::new()),
        };
        let files = folder.as_ref().map(|folder| folder as &dyn Files);
        let composed = files.and_then(|files| {
            hydra::compose(&main, &self.words, files, &sources, limits, &mut out)
        });
        if files.is_none() && !self.words.is_empty() {
            return Err(format!(
                "`{}` changes a configuration with groups; `--config FILE` names one",
                self.words.join(" ")
            ));
        }
        let own = match &self.overrides {
            Some(file) => Some(read(file, &sources, limits)?),
            None => None,
        };
        let own = own.map(|mut document: Document<'_>| {
            out.extend(std::mem::take(&mut document.diagnostics));
            document
        });
        let root = match (&own, &composed) {
            (Some(document), _) => document.root.as_ref(),
            (None, Some(composed)) => Some(&composed.root),
            (None, None) => None,
        };
        let section = root.and_then(|root| root.get(SECTION));
        // What can be said of rules in a broken text may not be true.
        let Some(section) = section.filter(|_| !out.has_errors()) else {
            if let Some(root) = root.filter(|_| !out.has_errors()) {
                out.push(no_section(root.span, root, self.overrides.is_none()));
            }
            return Ok(Some(Loaded {
                overrides: Overrides::nothing(&sources),
                tenant: Tenant::default(),
                problems: out.into_vec(),
            }));
        };
        let tenant = self.tenant(composed.as_ref(), files, limits)?;
        if tenant.is_unknown() && !section.value.is_null() {
            out.push(no_tenant(section));
        }
        let overrides = Overrides::read(section, &tenant, &sources, &mut out);
        Ok(Some(Loaded {
            overrides,
            tenant,
            problems: out.into_vec(),
        }))
    }

    fn tenant(
        &self,
        composed: Option<&Composed<'_>>,
        files: Option<&dyn Files>,
        limits: &Limits,
    ) -> Result<Tenant, String> {
        if let Some(word) = &self.tenant {
            return Ok(match files {
                Some(files) => hydra::tenant_called(word, files),
                None => Tenant::called(word.as_str()),
            });
        }
        let configured = composed.zip(files);
        let configured = configured.map(|(composed, files)| composed.tenant(files));
        if let (Some(tenant), None) = (
            configured.filter(|tenant| !tenant.is_unknown()),
            &self.workspace,
        ) {
            return Ok(tenant);
        }
        let Some(file) = self.workspace.clone().or_else(workspace_file) else {
            return Ok(Tenant::default());
        };
        let sources = Sources::default();
        let document = read(&file, &sources, limits)?;
        let root = document.root.filter(|_| !document.diagnostics.has_errors());
        let root =
            root.ok_or_else(|| format!("`{}` is no configuration of a workspace", shown(&file)))?;
        Ok(hydra::tenant_of_workspace(&root, files))
    }
}

impl Loaded {
    /// What is wrong with the configuration, and, once files were read, which rules had no effect.
    pub(crate) fn problems(&self, used: Option<&Used>, levels: &Levels) -> ConfigProblems {
        let sources = self.overrides.sources();
        let mut out = Diagnostics::default();
        self.problems
            .iter()
            .cloned()
            .for_each(|found| out.push(found));
        if let Some(used) = used {
            for found in overrides::unused(&self.overrides, used) {
                out.push(found);
            }
        }
        let mut allowed = Allowed::default();
        for source in sources
            .iter()
            .filter(|source| !source.name().starts_with('-'))
        {
            let document = yaml::load(source, &Limits::default());
            let comments = document.comments.iter().map(|comment| comment.span);
            allowed.read_comments(source, comments, &mut out);
        }
        out.apply(levels, &allowed);
        let diagnostics = out.into_vec();
        let redactor = Redactor::new(&sources, [], &diagnostics);
        ConfigProblems {
            diagnostics,
            sources,
            redactor,
        }
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => missing(file),
        _ => format!("`{}`: {}", shown(file), in_words(error)),
    }
}

fn read<'s>(file: &Path, sources: &'s Sources, limits: &Limits) -> Result<Document<'s>, String> {
    let bytes = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
    match yaml::decode(bytes, limits) {
        Ok(text) => Ok(yaml::load(sources.add(shown(file), text), limits)),
        Err(_) => Err(format!("`{}` is too large or no UTF-8 text", shown(file))),
    }
}

/// The configuration of the workspace that this folder belongs to, if there is one.
fn workspace_file() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors()
        .flat_map(|folder| WORKSPACE_FILES.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

fn no_section(span: Span, root: &yaml::Node<'_>, may_lack: bool) -> Diagnostic {
    let span = Span {
        end: span.end.min(span.start + 1),
        ..span
    };
    let message = format!("the configuration has no section `{SECTION}`");
    let mut diagnostic = Diagnostic::new(&codes::BAD_OVERRIDES, span, message);
    let keys = root.as_map().into_iter().flat_map(|map| &map.entries);
    let similar = suggest::closest(SECTION, keys.map(|entry| &*entry.key.text));
    if let Some(near) = similar {
        return diagnostic.help(format!("is `{near}` meant to be it?"));
    }
    if may_lack {
        diagnostic.severity = Severity::Warning;
    }
    diagnostic.help("below it stand the tenants, and below each the paths and their tables")
}

fn no_tenant(section: &Entry<'_>) -> Diagnostic {
    let message = "it is not known for which tenant the job is";
    Diagnostic::new(&codes::NO_TENANT, section.key.span, message)
        .label("these rules are for some tenants only")
        .help("`--tenant ID` or `--tenant NAME` says which")
        .help("with `--config`, `aml=NAME` takes the tenant of a workspace configuration")
}
