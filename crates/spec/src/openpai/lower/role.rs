//! One task role.

use indexmap::IndexMap;
use pinnace_core::origin::Origin;
use pinnace_core::plan::{Completion, Image, ImageAuth, Resources, Retry, Role, RolePlacement};
use pinnace_core::text::Text;

use super::{Lowering, integer};
use crate::openpai::catalog::Id;
use crate::openpai::model::{Kind, Prerequisite, Role as RoleModel};
use crate::openpai::read;
use crate::secrets::implicit_name;
use crate::template::Scopes;
use crate::yaml::Node;

/// Upstream's size of `/dev/shm` when none is asked for.
const DEFAULT_SHM_MB: u64 = 512;

impl<'d> Lowering<'_, 'd> {
    /// The prerequisites that a role lists and that exist.
    pub(super) fn listed<'r>(&'r self, role: &'r RoleModel<'d>) -> impl Iterator<Item = Id> + 'r {
        role.prerequisites
            .iter()
            .filter_map(|name| self.catalog.find(name.text))
    }

    /// What the templates of a role can name.
    pub(super) fn role_scopes<'t>(&self, role: &RoleModel<'d>) -> Scopes<'t, 'd>
    where
        'd: 't,
    {
        let selected = |kind, name: Option<crate::openpai::model::Name<'d>>| {
            let id = name.and_then(|name| self.catalog.of_kind(kind, name.text));
            id.map(|id| self.catalog.get(id).node)
        };
        Scopes {
            data: selected(Kind::Data, role.data),
            script: selected(Kind::Script, role.script),
            output: selected(Kind::Output, role.output),
            ..self.job_scopes()
        }
    }

    pub(super) fn role(&mut self, role: &RoleModel<'d>) -> Option<Role> {
        let plan_path = self.path(format_args!("roles.{}", role.name.text));
        let doc_path = self.path(format_args!("taskRoles.{}", role.name.text));
        let scopes = self.role_scopes(role);
        let command = self.command(role, &scopes, &plan_path, &doc_path);
        let steps = self.steps(role, &scopes, &plan_path);
        if !self.building {
            return None;
        }
        let instances = read::value(role.node, "instances");
        self.trace.value(
            format_args!("{plan_path}.instances"),
            instances,
            format_args!("{doc_path}.instances"),
            "one task unless the role says more",
        );
        let retries = role.task_retry_count;
        self.trace.value(
            format_args!("{plan_path}.retry.limit"),
            retries,
            format_args!("{doc_path}.taskRetryCount"),
            "a task is not tried again unless its role says so",
        );
        let image = role
            .docker_image
            .and_then(|name| self.catalog.of_kind(Kind::DockerImage, name.text));
        let image = image.and_then(|id| self.image(self.catalog.get(id), &plan_path));
        Some(Role {
            instances: role.instances,
            image,
            resources: self.resources(role, &plan_path, &doc_path),
            ports: self.ports(role, &plan_path, &doc_path),
            env: IndexMap::new(),
            mounts: steps.mounts,
            before: steps.before,
            command,
            after: steps.after,
            completion: self.completion(role, &plan_path, &doc_path),
            retry: Retry {
                limit: integer(retries).unwrap_or(0),
            },
            placement: self.role_placement(role, &plan_path),
            ..Role::default()
        })
    }

    /// The deployment's and the role's own lines, in the order in which they run.
    fn command(
        &mut self,
        role: &RoleModel<'d>,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        doc_path: &str,
    ) -> Vec<Text> {
        let active = self.job.default_deployment.map(|name| name.text);
        let deployment =
            self.job.deployments.iter().find(|deployment| {
                active.is_some() && deployment.name.map(|name| name.text) == active
            });
        let part = deployment.and_then(|deployment| deployment.role(role.name.text));
        let pre = part.and_then(|part| part.pre_commands);
        let post = part.and_then(|part| part.post_commands);
        if !self.building {
            for list in [pre, role.commands, post] {
                self.judge_all(list, scopes);
            }
            return Vec::new();
        }
        let place = deployment.map_or(0, |deployment| deployment.index);
        let added = format!("deployments[{place}].taskRoles.{}", role.name.text);
        let mut lines = Vec::new();
        for (path, list) in [
            (format!("{added}.preCommands"), pre),
            (format!("{doc_path}.commands"), role.commands),
            (format!("{added}.postCommands"), post),
        ] {
            for (index, node) in read::items(list).iter().enumerate() {
                let (text, origin) = self.render(node, scopes, format_args!("{path}[{index}]"));
                if let Some(origin) = origin {
                    self.trace
                        .note(format_args!("{plan_path}.command[{}]", lines.len()), |_| {
                            origin
                        });
                }
                lines.push(text);
            }
        }
        lines
    }

    fn resources(&mut self, role: &RoleModel<'d>, plan_path: &str, doc_path: &str) -> Resources {
        let needs = read::value(role.node, "resourcePerInstance");
        let options = read::value(role.node, "extraContainerOptions");
        let need = |key| needs.and_then(|needs| read::value(needs, key));
        let option = |key| options.and_then(|options| read::value(options, key));
        for key in ["cpu", "memoryMB", "gpu"] {
            self.trace.value(
                format_args!("{plan_path}.resources.{key}"),
                need(key),
                format_args!("{doc_path}.resourcePerInstance.{key}"),
                "",
            );
        }
        // Upstream takes 0 for "not written".
        let shm = option("shmMB").filter(|node| node.as_integer() != Some(0));
        self.trace.value(
            format_args!("{plan_path}.resources.shmMB"),
            shm,
            format_args!("{doc_path}.extraContainerOptions.shmMB"),
            "512 MB unless the role says otherwise",
        );
        self.trace.value(
            format_args!("{plan_path}.resources.infiniband"),
            option("infiniband"),
            format_args!("{doc_path}.extraContainerOptions.infiniband"),
            "no InfiniBand unless the role asks for it",
        );
        Resources {
            cpu: integer(need("cpu")).unwrap_or(0),
            memory_mb: integer(need("memoryMB")).unwrap_or(0),
            gpu: integer(need("gpu")).unwrap_or(0),
            shm_mb: integer(shm).unwrap_or(DEFAULT_SHM_MB),
            infiniband: option("infiniband")
                .and_then(Node::as_bool)
                .unwrap_or(false),
        }
    }

    fn ports(
        &mut self,
        role: &RoleModel<'d>,
        plan_path: &str,
        doc_path: &str,
    ) -> IndexMap<String, u32> {
        let mut ports = IndexMap::new();
        for (label, node) in &role.ports {
            self.trace.value(
                format_args!("{plan_path}.ports.{}", label.text),
                Some(node),
                format_args!("{doc_path}.resourcePerInstance.ports.{}", label.text),
                "",
            );
            ports.insert(label.text.to_owned(), integer(Some(node)).unwrap_or(1));
        }
        for label in ["ssh", "http"] {
            if !ports.contains_key(label) {
                ports.insert(label.to_owned(), 1);
                self.trace
                    .note(format_args!("{plan_path}.ports.{label}"), |_| {
                        Origin::default_rule(format!("every task has one `{label}` port"))
                    });
            }
        }
        ports
    }

    fn completion(&mut self, role: &RoleModel<'d>, plan_path: &str, doc_path: &str) -> Completion {
        let completion = read::value(role.node, "completion");
        let rules = [
            (
                "minFailed",
                "minFailedInstances",
                "the job fails with the first task that fails",
            ),
            (
                "minSucceeded",
                "minSucceededInstances",
                "the job succeeds when all tasks of the role have succeeded",
            ),
        ];
        for (name, key, rule) in rules {
            let node = completion.and_then(|completion| read::value(completion, key));
            // Upstream takes null and 0 for "not written".
            let node = node.filter(|node| !node.is_null() && node.as_integer() != Some(0));
            self.trace.value(
                format_args!("{plan_path}.completion.{name}"),
                node,
                format_args!("{doc_path}.completion.{key}"),
                rule,
            );
        }
        Completion {
            min_failed: role.effective_min_failed(),
            min_succeeded: role.effective_min_succeeded(),
        }
    }

    fn role_placement(&mut self, role: &RoleModel<'d>, plan_path: &str) -> RolePlacement {
        let extras = &self.job.extras;
        let roles = extras
            .hived
            .and_then(|hived| read::value(hived, "taskRoles"));
        let settings = roles.and_then(|roles| read::value(roles, role.name.text));
        let doc_path = format!("extras.{}.taskRoles.{}", extras.hived_key, role.name.text);
        let mut text = |name: &str, keys: &[&str]| {
            let found = keys.iter().find_map(|key| {
                settings
                    .and_then(|node| read::value(node, key))
                    .map(|node| (key, node))
            });
            self.trace.note(
                format_args!("{plan_path}.placement.{name}"),
                |trace| match found {
                    Some((key, node)) => trace.written(node, format_args!("{doc_path}.{key}")),
                    None => Origin::default_rule("left to the scheduler"),
                },
            );
            found
                .and_then(|(_, node)| node.as_text())
                .map(str::to_owned)
        };
        RolePlacement {
            sku: text("sku", &["skuType", "gpuType"]),
            pinned_cell: text("pinnedCell", &["pinnedCellId", "reservationId"]),
            affinity_group: text("affinityGroup", &["affinityGroupName"]),
        }
    }

    /// An image; with an empty plan path only its templates are checked.
    pub(super) fn image(
        &mut self,
        prerequisite: &Prerequisite<'d>,
        plan_path: &str,
    ) -> Option<Image> {
        let node = prerequisite.node;
        let auth = read::value(node, "auth").filter(|auth| auth.as_map().is_some());
        let base = self.path_of(prerequisite);
        let scopes = self.job_scopes();
        let field = |lowering: &mut Self, name: &str, key: &str| {
            let part = auth
                .and_then(|auth| read::value(auth, key))
                .filter(|part| part.as_text().is_some());
            let rendered =
                part.map(|part| lowering.render(part, &scopes, format_args!("{base}.auth.{key}")));
            let (text, origin) = rendered.unzip();
            let text = match (text, part) {
                // A password in clear never reaches the plan, however short it is.
                (Some(_), Some(part))
                    if key == "password" && !part.as_text().is_some_and(|t| t.contains("<%")) =>
                {
                    let mut hidden = Text::default();
                    hidden.push_secret(implicit_name(prerequisite.title()));
                    Some(hidden)
                }
                (text, _) => text,
            };
            if !plan_path.is_empty() && auth.is_some() {
                let origin = origin
                    .flatten()
                    .unwrap_or_else(|| Origin::default_rule("not written"));
                lowering
                    .trace
                    .note(format_args!("{plan_path}.image.auth.{name}"), |_| origin);
            }
            text
        };
        let login = ImageAuth {
            username: field(self, "username", "username"),
            password: field(self, "password", "password"),
            registry: field(self, "registry", "registryuri"),
        };
        let uri = read::value(node, "uri")?;
        if plan_path.is_empty() {
            return None;
        }
        let written = format!("{base}.uri");
        let origin = self.trace.written(uri, &written);
        self.trace
            .note(format_args!("{plan_path}.image.uri"), |_| origin);
        if auth.is_none() {
            self.trace
                .note(format_args!("{plan_path}.image.auth"), |_| {
                    Origin::default_rule("the image asks for no login")
                });
        }
        Some(Image {
            uri: self
                .clear
                .hide(&Text::from(uri.as_text().unwrap_or_default())),
            auth: auth.map(|_| login),
        })
    }
}
