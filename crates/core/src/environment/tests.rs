#![allow(clippy::unwrap_used)]

use super::*;

fn plan() -> Plan {
    let role = |instances: u32, gpu: u32, port: &str, min_succeeded: Option<i32>| {
        serde_json::json!({
            "instances": instances, "image": null,
            "resources": {"cpu": 2, "memoryMB": 1024, "gpu": gpu, "shmMB": 64, "infiniband": false},
            "ports": {"ssh": 1, port: 2}, "env": {}, "mounts": [], "before": [], "command": [], "after": [],
            "completion": {"minFailed": 1, "minSucceeded": min_succeeded},
            "retry": {"limit": 0}, "placement": {},
        })
    };
    let plan = serde_json::json!({
        "name": "job", "labels": {}, "secrets": [], "retry": {"limit": 0}, "notify": [],
        "roles": {"worker": role(3, 1, "tensor", Some(3)), "ps_server": role(1, 0, "grpc", None), "Worker": role(1, 0, "grpc", None)},
        "placement": {"virtualCluster": "default", "priority": 10, "gang": true, "gangRelease": null, "lazyPreemption": null, "ignoreSuggestedNodes": null},
    });
    serde_json::from_value(plan).unwrap()
}

fn value(role: &str, name: &str) -> Option<Value> {
    let variables = variables(&plan(), role);
    let found = variables
        .into_iter()
        .find(|variable| variable.names().any(|own| own == name));
    found.map(|variable| variable.value)
}

fn known(role: &str, name: &str) -> String {
    match value(role, name) {
        Some(Value::Known(value)) => value,
        other => format!("{other:?}"),
    }
}

#[test]
fn what_the_plan_decides_is_known() {
    assert_eq!(known("worker", "PAI_CURRENT_TASK_ROLE_NAME"), "worker");
    assert_eq!(
        known("worker", "PAI_TASK_ROLE_LIST"),
        "worker,ps_server,Worker"
    );
    assert_eq!(known("worker", "PAI_TASKS_NUM"), "5");
    assert_eq!(known("worker", "WORLD_SIZE"), "5");
    assert_eq!(
        known("worker", "PAI_TASK_ROLE_INSTANCES"),
        "worker:0,worker:1,worker:2,ps_server:0,Worker:0"
    );
    assert_eq!(known("worker", "PAI_RESOURCE_ps_server"), "0,2,1024,64");
    assert_eq!(known("worker", "PAI_MIN_SUCCEEDED_TASK_COUNT_worker"), "3");
    assert_eq!(
        known("worker", "PAI_MIN_SUCCEEDED_TASK_COUNT_psserver"),
        "-1"
    );
    assert_eq!(known("ps_server", "FC_TASKROLE_NAME"), "psserver");
    assert_eq!(known("ps_server", "NVIDIA_VISIBLE_DEVICES"), "none");
}

#[test]
fn addresses_and_ports_are_known_only_at_run() {
    for name in [
        "PAI_HOST_IP_worker_2",
        "PAI_HOST_IP_psserver_0",
        "PAI_HOST_IP_ps_server_0",
        "PAI_PORT_LIST_worker_0_tensor",
        "PAI_worker_0_http_PORT",
        "PAI_CONTAINER_HOST_tensor_PORT_LIST",
        "PAI_TASK_ROLE_ps_server_HOST_LIST",
        "PINNACE_PEERS",
        "MASTER_ADDR",
    ] {
        assert!(
            matches!(value("worker", name), Some(Value::AtRun(_))),
            "{name}"
        );
    }
    assert_eq!(value("worker", "PAI_HOST_IP_worker_3"), None);
    assert_eq!(
        value("ps_server", "PAI_CONTAINER_HOST_tensor_PORT_LIST"),
        None
    );
}

#[test]
fn no_name_is_there_twice_and_names_as_written_win() {
    let variables = variables(&plan(), "worker");
    let names: Vec<&String> = variables.iter().map(|variable| &variable.name).collect();
    let unique: HashSet<&String> = names.iter().copied().collect();
    assert_eq!(names.len(), unique.len());
    assert_eq!(known("worker", "PAI_TASK_ROLE_TASK_COUNT_worker"), "3");
    assert_eq!(known("worker", "PAI_TASK_ROLE_TASK_COUNT_Worker"), "1");
}

#[test]
fn a_role_that_is_not_there_has_no_variables() {
    assert_eq!(variables(&plan(), "nobody"), []);
}

fn shapes() -> Vec<RoleShape<'static>> {
    vec![
        RoleShape {
            name: "worker",
            instances: 3,
            ports: vec!["tensor"],
        },
        RoleShape {
            name: "ps_server",
            instances: 1,
            ports: vec!["my_port"],
        },
    ]
}

#[test]
fn every_variable_of_a_plan_is_defined_and_every_candidate_too() {
    let plan = plan();
    let shapes: Vec<RoleShape<'_>> = plan
        .roles
        .iter()
        .map(|(name, role)| RoleShape {
            name,
            instances: role.instances,
            ports: role.ports.keys().map(String::as_str).collect(),
        })
        .collect();
    let names = Names::new(&shapes);
    for (index, role) in plan.roles.keys().enumerate() {
        for name in variables(&plan, role).iter().flat_map(Variable::names) {
            assert_eq!(names.check(&name, Some(index)), Verdict::Defined, "{name}");
            assert_eq!(names.check(&name, None), Verdict::Defined, "{name}");
        }
        for name in names.candidates(Some(index)) {
            assert_eq!(names.check(&name, Some(index)), Verdict::Defined, "{name}");
        }
    }
}

#[test]
fn a_name_that_is_wrong_tells_what_is_wrong() {
    let shapes = shapes();
    let names = Names::new(&shapes);
    for (name, verdict) in [
        ("PAI_HOST_IP_worker_2", Verdict::Defined),
        ("PAI_HOST_IP_worker_3", Verdict::NoSuchTask(&shapes[0])),
        (
            "PAI_HOST_IP_worker_99999999999",
            Verdict::NoSuchTask(&shapes[0]),
        ),
        ("PAI_HOST_IP_worker_02", Verdict::Unknown),
        ("PAI_HOST_IP_worker_", Verdict::Unknown),
        ("PAI_HOST_IP_master_0", Verdict::Unknown),
        ("PAI_PORT_LIST_ps_server_0_my_port", Verdict::Defined),
        ("PAI_psserver_0_my_port_PORT", Verdict::Defined),
        (
            "PAI_PORT_LIST_worker_0_my_port",
            Verdict::NoSuchPort(&shapes[0]),
        ),
        ("PAI_CONTAINER_HOST_tensor_PORT_LIST", Verdict::Defined),
        ("PAI_CONTAINER_HOST_http_PORT_LIST", Verdict::Defined),
        (
            "PAI_CONTAINER_HOST_my_port_PORT_LIST",
            Verdict::NoSuchPort(&shapes[0]),
        ),
        ("PAI_WORKDIR", Verdict::Unknown),
        ("PAI_", Verdict::Unknown),
        ("", Verdict::Unknown),
    ] {
        assert_eq!(names.check(name, Some(0)), verdict, "{name}");
    }
    assert_eq!(
        names.check("PAI_CONTAINER_HOST_my_port_PORT_LIST", None),
        Verdict::Defined
    );
}

#[test]
fn the_short_name_is_lower_case_letters_and_digits() {
    assert_eq!(short_name("Ps_Server2"), "psserver2");
}

#[test]
fn the_reference_names_every_variable() {
    let page = reference();
    for family in FAMILIES {
        assert!(
            page.contains(&format!("| `{}` |", family.pattern)),
            "{}",
            family.pattern
        );
    }
}
