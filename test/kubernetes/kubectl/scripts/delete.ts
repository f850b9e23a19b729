import { gone, type KubectlScript } from '../script.ts';

const configMap = (name: string, metadata = ''): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}${metadata === '' ? '' : `, ${metadata}`}}
`;

const ownedBy = (owner: string, uid: string): string =>
  `ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: ${owner}, uid: ${uid}, blockOwnerDeletion: true}]`;

const family = (owner: string) => [
  { run: 'create -f -', input: configMap(owner) },
  { run: `get cm ${owner} -o jsonpath='{.metadata.uid}'`, capture: 'UID' },
  { run: 'create -f -', input: configMap(`${owner}-child`, ownedBy(owner, '$UID')) },
];

const pod = (name: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: demo}}
spec: {schedulerName: nobody, nodeName: deleting-node, containers: [{name: one, image: example/one:1}]}
`;

export const deleting: KubectlScript = {
  title: 'deletion with dependents, finalizers and grace periods',
  namespace: 'deleting',
  steps: [
    ...family('background'),
    'delete cm background --cascade=background',
    gone('cm/background-child'),
    ...family('default'),
    'delete cm default',
    gone('cm/default-child'),
    ...family('foreground'),
    'delete cm foreground --cascade=foreground',
    'get cm foreground-child',
    gone('cm/foreground-child'),
    ...family('orphan'),
    'delete cm orphan --cascade=orphan',
    { run: 'get cm orphan-child -o yaml', until: /name: orphan-child/ },
    'delete cm orphan-child --cascade=nonsense',

    { run: 'create -f -', input: configMap('held', 'finalizers: [example.com/hold]') },
    'delete cm held --wait=false',
    'get cm held -o yaml',
    'delete cm held --wait=false',
    // Sometimes the client also logs that its watch was cut off.
    { run: 'delete cm held --timeout=2s', lines: /^(?!<log)/ },
    `patch cm held --type=merge -p '{"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}'`,
    `patch cm held --type=merge -p '{"metadata": {"finalizers": null}}'`,
    gone('cm/held'),
    { run: 'create -f -', input: configMap('bad', 'finalizers: [not-qualified]') },

    { run: 'create -f -', input: configMap('one', 'labels: {set: a}') },
    { run: 'create -f -', input: configMap('two', 'labels: {set: a}') },
    { run: 'create -f -', input: configMap('three', 'labels: {set: b}') },
    'delete cm -l set=a --dry-run=server',
    'delete cm -l set=a --dry-run=client',
    { run: 'delete cm -l set=a', unordered: true },
    'delete cm three -o name',
    'delete cm three',
    'delete cm three --ignore-not-found',
    'delete cm',
    { run: 'delete -f -', input: configMap('nothing') },

    { run: 'create -f -', input: pod('gentle') },
    'delete pod gentle --wait=false',
    "get pod gentle -o jsonpath='{.metadata.deletionGracePeriodSeconds}'",
    'get pod gentle',
    'delete pod gentle --grace-period=5 --wait=false',
    "get pod gentle -o jsonpath='{.metadata.deletionGracePeriodSeconds}'",
    'delete pod gentle --grace-period=60 --wait=false',
    "get pod gentle -o jsonpath='{.metadata.deletionGracePeriodSeconds}'",
    'delete pod gentle --now --wait=false',
    "get pod gentle -o jsonpath='{.metadata.deletionGracePeriodSeconds}'",
    'delete pod gentle --force',
    'get pod gentle',
    { run: 'create -f -', input: pod('forced') },
    'delete pod forced --grace-period=0 --force',
    { run: 'create -f -', input: pod('zero') },
    'delete pod zero --grace-period=0 --wait=false',
    "get pod zero -o jsonpath='{.metadata.deletionGracePeriodSeconds}'",
    { run: 'create -f -', input: pod('zero') },
    'delete pod zero --force --grace-period=5',
    'delete pod zero --force',

    'create namespace deleting-too',
    'wait --for=create -n deleting-too serviceaccount/default configmap/kube-root-ca.crt --timeout=300s',
    'create configmap -n deleting-too content --from-literal=a=1',
    { run: 'create -n deleting-too -f -', input: configMap('held', 'finalizers: [example.com/hold]') },
    'delete namespace deleting-too --wait=false',
    gone('-n deleting-too cm/content'),
    "wait --for=jsonpath='{.status.phase}'=Terminating ns/deleting-too --timeout=300s",
    'get ns deleting-too',
    'create configmap -n deleting-too late --from-literal=a=1',
    `patch cm -n deleting-too held --type=merge -p '{"metadata": {"finalizers": null}}'`,
    gone('ns/deleting-too'),
    'get ns deleting-too',
    'delete ns default',
    'delete ns kube-system',
  ],
};
