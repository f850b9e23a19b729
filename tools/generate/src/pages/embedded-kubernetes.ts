import { catalogue } from '@tartan/sim-kubernetes/catalogue';
import { behaviours as shared, restartBehaviours } from '@tartan/sim-kubernetes/contract';
import { code, codes, generated, row, table } from './markdown.ts';

/** The page about the embedded Kubernetes: its kinds, and every behaviour that is compared with the real one. */

const behaviours = [...shared, ...restartBehaviours];

const refused: [what: string, instead: string][] = [
  [
    'server-side apply (`kubectl apply --server-side`, `application/apply-patch+yaml`)',
    'client-side apply, merge or strategic patches',
  ],
  [
    'admission webhooks, ValidatingAdmissionPolicy, conversion webhooks',
    'CEL rules in the schema; one served version, or versions with the same fields',
  ],
  ['aggregated API servers (APIService)', '—'],
  ['PodDisruptionBudgets, ResourceQuotas, LimitRanges', '—'],
  ['protobuf answers', 'JSON or YAML answers; protobuf bodies are read for the kinds above'],
  ['kinds that are not listed above', '— (`kubectl` reports that the server does not have the resource type)'],
];

const kindRows = (): string[] =>
  catalogue.groups.map(({ group, version, resources }) =>
    row(code(group === '' ? version : `${group}/${version}`), codes(resources.map(({ name }) => name))),
  );

const behaviourLines = (): string[] => {
  const topics = [...new Set(behaviours.map(({ topic }) => topic))];
  return topics.flatMap((topic) => [
    '',
    `**${topic}**`,
    '',
    ...behaviours.filter((behaviour) => behaviour.topic === topic).map(({ sentence }) => `- ${sentence}`),
  ]);
};

export const embeddedKubernetesPage = (): string =>
  [
    generated,
    '',
    '# Embedded Kubernetes: what it serves and refuses',
    '',
    `A simulator for laptops and tests, in one Node.js process. It behaves like Kubernetes ${catalogue.version}.`,
    '',
    '## Served resources',
    '',
    ...table(['group', 'resources'], kindRows()),
    '| yours | every CustomResourceDefinition that you create: pruning, defaulting, validation, CEL, `/status`, `/scale`, printer columns |',
    '',
    'Controllers: garbage collection, namespaces, service accounts and root CA, aggregated ClusterRoles, Deployments and ReplicaSets, scheduler, node lifecycle and',
    'eviction by taints, Pod garbage collection, certificate approval and signing, event expiry, bootstrap-token clean-up.',
    '',
    '## Authorization',
    '',
    'As with `--authorization-mode=Node,RBAC` and the NodeRestriction plugin: roles and bindings decide, the group `system:masters` may do everything,',
    'and a Node may access itself, its Lease, the Pods bound to it, and what those refer to. The default roles and bindings exist, except',
    '`system:controller:*`, because the built-in controllers have no identity. A joining Node has no permission until it is bound to',
    '`system:node-bootstrapper`. `createKubernetes({ authorize })` replaces all of this, except NodeRestriction, by your own function.',
    '',
    '## Persistence',
    '',
    'By default everything is in memory. `createKubernetes({ data: DIR })` stores objects, resource versions, the last 10,000 changes, the',
    'certificate authority and the token key in `DIR/kubernetes.sqlite`. Acknowledged writes survive a killed process; a power cut may lose the last',
    'ones. Kubeconfigs, certificates and tokens stay valid after a restart. A watch resumes from any version that is still stored, and otherwise gets',
    '`410 Expired`. Only one process can use the folder. Each of these problems is an error that says what to do, and loses no data:',
    '',
    '| problem | `DataError.problem` |',
    '|---|---|',
    '| another process uses the folder | `inUse` |',
    '| a newer release wrote the data | `newerFormat` |',
    '| another program wrote the data | `foreign` |',
    '| the file is damaged: its structure and every row are checked at start | `damaged` |',
    '| the disk is full at start. Later, writes are refused with a `Status`, and reads work | `full` |',
    '| the folder cannot be created or written to | `unusable` |',
    '',
    '## Refused requests',
    '',
    'Each is refused with a `Status` that names the reason.',
    '',
    ...table(
      ['not served', 'use instead'],
      refused.map((cells) => row(...cells)),
    ),
    '',
    `## Behaviour compared with the real Kubernetes`,
    '',
    `${behaviours.length} behaviours. Each is a test that runs against the embedded server, in-process and over HTTPS, and against the real`,
    'kube-apiserver. If the two differ, the embedded server is wrong.',
    ...behaviourLines(),
    '',
  ].join('\n');
