//! Every key of a document is in its account, none is forgotten.

use std::collections::HashSet;

use pinnace_core::fidelity::{Account, Engine, Honour, losses};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CORPUS, GOOD, from_json, load, to_json};
use crate::openpai::fields;
use crate::shape::{account, count_keys};
use crate::source::Sources;
use crate::yaml::Node;

fn accounts(text: &str) -> Vec<Account> {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    let root = load(source);
    account(&root, &fields::SHAPE, Engine::Local, &sources)
}

fn assert_whole(root: &Node<'_>) {
    let keys = count_keys(root);
    let accounts = account(root, &fields::SHAPE, Engine::Local, &Sources::default());
    assert_eq!(accounts.len(), keys, "{root:?}");
    let paths: HashSet<_> = accounts.iter().map(|account| &account.path).collect();
    assert_eq!(paths.len(), keys, "{root:?}");
    for account in &accounts {
        assert_eq!(
            account.reason.is_empty(),
            account.status == Honour::Honoured
        );
    }
}

#[test]
fn every_key_of_every_document_of_the_corpus_is_accounted_for() {
    for (_, text) in CORPUS {
        let sources = Sources::default();
        assert_whole(&load(sources.add("job.yaml", *text)));
    }
}

/// Any JSON value, with keys that the tables know and keys that they do not.
fn any_value() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("name"),
        Just("type"),
        Just("taskRoles"),
        Just("extras"),
        Just("hivedScheduler"),
        Just("hivedscheduler"),
        Just("prerequisites"),
        Just("parameters"),
        Just("secrets"),
        Just("uri"),
        Just("a.b"),
        Just("a b"),
        Just(""),
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(false)),
        Just(json!(0)),
        Just(json!(1.5)),
        Just(json!("script")),
        Just(json!("dockerimage")),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|entries| {
                Value::Object(
                    entries
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn every_key_of_any_document_is_accounted_for(value in any_value()) {
        assert_whole(&from_json(&value));
    }

    #[test]
    fn every_key_of_a_mutated_job_is_accounted_for(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        value in any_value(),
    ) {
        let (name, text) = CORPUS[which.index(CORPUS.len())];
        let sources = Sources::default();
        let source = sources.add(name, text);
        let mut document = to_json(&load(source));
        let mut target = &mut document;
        let mut choice = place.index(1_000_000);
        // Walks down by the digits of a number, so that every depth is reached.
        loop {
            let size = match &*target {
                Value::Array(items) => items.len(),
                Value::Object(map) => map.len(),
                _ => 0,
            };
            if size == 0 || choice % 7 == 0 {
                break;
            }
            let index = choice % size;
            choice /= 3;
            target = match target {
                Value::Array(items) => &mut items[index],
                Value::Object(map) => map.values_mut().nth(index).unwrap(),
                _ => break,
            };
        }
        *target = value;
        assert_whole(&from_json(&document));
    }
}

fn lost(text: &str) -> Vec<String> {
    let accounts = accounts(text);
    losses(&accounts)
        .map(|account| {
            let status = match account.status {
                Honour::Honoured => "honoured",
                Honour::Approximated => "about",
                Honour::NotHonoured => "not",
            };
            format!("{} {} {status}", account.place.line, account.path)
        })
        .collect()
}

#[test]
fn what_is_lost_on_one_machine_is_told_with_its_line() {
    assert_eq!(
        lost(GOOD),
        [
            "7 prerequisites[0].uri about",
            "13 taskRoles.worker.resourcePerInstance.cpu about",
            "14 taskRoles.worker.resourcePerInstance.memoryMB about",
        ]
    );
}

#[test]
fn every_field_that_one_machine_does_not_honour_is_listed() {
    let (_, text) = CORPUS[0];
    let paths: Vec<String> = lost(text)
        .into_iter()
        .map(|line| line.split_once(' ').unwrap().1.to_owned())
        .collect();
    assert_eq!(
        paths,
        [
            "prerequisites[0].uri about",
            "prerequisites[0].auth.username not",
            "prerequisites[0].auth.password not",
            "prerequisites[0].auth.registryuri not",
            "prerequisites[4].plugin about",
            "prerequisites[5].plugin about",
            "taskRoles.worker.extraContainerOptions.shmMB about",
            "taskRoles.worker.extraContainerOptions.infiniband not",
            "taskRoles.worker.resourcePerInstance.cpu about",
            "taskRoles.worker.resourcePerInstance.memoryMB about",
            "taskRoles.worker.resourcePerInstance.gpu about",
            "defaults.virtualCluster not",
            "extras.hivedScheduler.jobPriorityClass not",
            "extras.hivedScheduler.taskRoles.worker.skuType not",
            "extras.hivedScheduler.taskRoles.worker.affinityGroupName about",
            "extras.hivedScheduler.taskRoles.worker.skuNum not",
            "extras.hivedScheduler.taskRoles._master.reservationId not",
            "extras.hivedScheduler.taskRoles._master.skuNumber not",
            "extras.hivedScheduler.gangReleaseEnable about",
            "extras.hivedScheduler.lazyPreemptionEnable about",
            "extras.hivedScheduler.ignoreK8sSuggestedNodes about",
            "extras[\"com.microsoft.pai.runtimeplugin\"][0].plugin about",
            "extras[\"com.microsoft.pai.runtimeplugin\"][0].hook not",
            "extras.storages[0].name about",
            "extras.storages[1].name about",
            "extras.jobStatusChangeNotification.running not",
            "extras.jobStatusChangeNotification.failed not",
            "extras.jobStatusChangeNotification.retried not",
        ]
    );
}

#[test]
fn a_value_that_is_off_or_only_repeats_the_default_is_honoured() {
    let text = format!(
        "{GOOD}defaults: {{virtualCluster: default}}\n\
         extras: {{hivedScheduler: {{jobPriorityClass: test, lazyPreemptionEnable: false}}}}\n"
    );
    assert_eq!(lost(&text).len(), lost(GOOD).len());
}

#[test]
fn a_key_that_nothing_reads_is_told_once_with_all_that_is_below_it() {
    let text = format!("{GOOD}extras: {{mine: {{a: {{b: 1}}}}}}\n");
    assert_eq!(lost(&text).last().unwrap(), "18 extras.mine not");
    let accounts = accounts(&text);
    assert_eq!(accounts.last().unwrap().path, "extras.mine.a.b");
    assert_eq!(accounts.last().unwrap().status, Honour::NotHonoured);
}
