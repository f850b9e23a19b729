import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cause } from '../../errors/field-errors.ts';
import { validateContainers, validateHandlers } from './validate-containers.ts';
import { validateEnvironment, validateEnvironmentFrom } from './validate-environment.ts';
import { validateTolerations } from './validate-spec.ts';
import { validateVolumes } from './validate-volumes.ts';

const texts = (causes: Cause[]): string[] =>
  causes.map(({ field, message }) => `${field}: ${message.replace(/ \(e\.g\. '.*$/, '')}`);

const table = (name: string, rows: [string, () => Cause[], string[]][]): void => {
  describe(name, () => {
    for (const [row, causes, expected] of rows) it(row, () => assert.deepEqual(texts(causes()), expected));
  });
};

const mode = 'must be a number between 0 and 0777 (octal), both inclusive';
const volume = (source: object) => () => validateVolumes([{ name: 'v', ...source }], 'v').causes;

table('volumes', [
  [
    'may be of any one type',
    volume({ secret: { secretName: 's', defaultMode: 0o777, items: [{ key: 'k', path: 'a/b' }] } }),
    [],
  ],
  ['need a type', volume({}), ['v[0]: Required value: must specify a volume type']],
  [
    'have modes',
    volume({ configMap: { name: 'c', defaultMode: -1, items: [{ key: 'k', path: 'p', mode: 512 }] } }),
    [
      `v[0].configMap.defaultMode: Invalid value: -1: ${mode}`,
      `v[0].configMap.items[0].mode: Invalid value: 512: ${mode}`,
    ],
  ],
  [
    'stay below their root',
    volume({
      configMap: {
        name: 'c',
        items: [
          { key: 'k', path: '/a' },
          { key: 'k', path: 'a/../b' },
        ],
      },
    }),
    [
      'v[0].configMap.items[0].path: Invalid value: "/a": must be a relative path',
      'v[0].configMap.items[1].path: Invalid value: "a/../b": must not contain \'..\'',
    ],
  ],
  [
    'need keys and paths',
    volume({ secret: { secretName: 's', items: [{}] } }),
    ['v[0].secret.items[0].key: Required value', 'v[0].secret.items[0].path: Required value'],
  ],
  [
    'of the host have known types',
    volume({ hostPath: { path: '/', type: 'x' } }),
    [
      'v[0].hostPath.type: Unsupported value: "x": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
  ],
  [
    'have sizes above zero',
    volume({ emptyDir: { sizeLimit: '-1' } }),
    ['v[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
  ],
  [
    'of servers have absolute paths',
    volume({ nfs: { server: 's', path: 'a' } }),
    ['v[0].nfs.path: Invalid value: "a": must be an absolute path'],
  ],
  [
    'project tokens of ten minutes at least',
    volume({ projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 599 } }] } }),
    [
      'v[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
  ],
  [
    'project one thing at a time',
    volume({ projected: { sources: [{ secret: { name: 'a' }, configMap: { name: 'b' } }] } }),
    ['v[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source'],
  ],
]);

const probe = (kind: string, fields: object) => () =>
  validateHandlers({ [kind]: { exec: { command: ['x'] }, successThreshold: 1, ...fields } }, 'c');

table('probes', [
  ['may be plain', probe('livenessProbe', {}), []],
  [
    'ask in one way',
    probe('livenessProbe', { tcpSocket: { port: 1 } }),
    ['c.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
  ],
  ['need a command', probe('readinessProbe', { exec: {} }), ['c.readinessProbe.exec.command: Required value']],
  [
    'ask real ports',
    probe('startupProbe', { exec: undefined, httpGet: { port: 70000, scheme: 'HTTP' } }),
    ['c.startupProbe.httpGet.port: Invalid value: 70000: must be between 1 and 65535, inclusive'],
  ],
  ['take the ends of the range', probe('startupProbe', { exec: undefined, tcpSocket: { port: 65535 } }), []],
  [
    'speak HTTP',
    probe('startupProbe', { exec: undefined, httpGet: { port: 1, scheme: 'x', httpHeaders: [{ name: 'a b' }] } }),
    [
      'c.startupProbe.httpGet.scheme: Unsupported value: "x": supported values: "HTTP", "HTTPS"',
      'c.startupProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or \'-\'',
    ],
  ],
  [
    'count upwards',
    probe('livenessProbe', { periodSeconds: -1 }),
    ['c.livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'of life succeed once',
    probe('livenessProbe', { successThreshold: 2 }),
    ['c.livenessProbe.successThreshold: Invalid value: 2: must be 1'],
  ],
  ['of readiness may succeed twice', probe('readinessProbe', { successThreshold: 2 }), []],
  [
    'of readiness end nothing',
    probe('readinessProbe', { terminationGracePeriodSeconds: 1 }),
    ['c.readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes'],
  ],
  [
    'leave some time',
    probe('livenessProbe', { terminationGracePeriodSeconds: 0 }),
    ['c.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0'],
  ],
]);

const env = (variable: object) => () => validateEnvironment([{ name: 'A', ...variable }], 'e');
const from = (source: object) => () => validateEnvironmentFrom([source], 'f');
const paths =
  '"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"';

table('environments', [
  ['may name fields', env({ valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } }), []],
  [
    'name fields that there are',
    env({ valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }),
    [
      'e[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x',
    ],
  ],
  [
    'name fields that are known in time',
    env({ valueFrom: { fieldRef: { fieldPath: 'status.phase' } } }),
    [`e[0].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: ${paths}`],
  ],
  [
    'have one source',
    env({ valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 's', key: 'k' } } }),
    ['e[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [
    'have a source or a value',
    env({ value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
    ['e[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    'have some source',
    env({ valueFrom: {} }),
    [
      'e[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ],
  ],
  [
    'need a key',
    env({ valueFrom: { configMapKeyRef: { name: 'c' } } }),
    ['e[0].valueFrom.configMapKeyRef.key: Required value'],
  ],
  [
    'know their resources',
    env({ valueFrom: { resourceFieldRef: { resource: 'x' } } }),
    [
      'e[0].valueFrom.resourceFieldRef.resource: Unsupported value: "x": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
    ],
  ],
  ['come from somewhere', from({}), ['f: Invalid value: "": must specify one of: `configMapRef` or `secretRef`']],
  [
    'come from one place',
    from({ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }),
    ['f: Invalid value: "": may not have more than one field specified at a time'],
  ],
  ['come from a name', from({ secretRef: {} }), ['f[0].secretRef.name: Required value']],
]);

const container = (fields: object) => () =>
  validateContainers(
    [{ name: 'a', image: 'a', terminationMessagePolicy: 'File', imagePullPolicy: 'Never', ...fields }],
    new Set(['v']),
    'c',
  );

table('containers', [
  ['may be plain', container({ ports: [{ name: 'web', containerPort: 65535, hostPort: 1, protocol: 'UDP' }] }), []],
  [
    'have real ports',
    container({ ports: [{ containerPort: 65536, hostPort: -1, protocol: 'x' }] }),
    [
      'c[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
      'c[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive',
      'c[0].ports[0].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"',
    ],
  ],
  [
    'have one port of a name',
    container({ ports: [1, 2].map((containerPort) => ({ name: 'p', containerPort, protocol: 'TCP' })) }),
    ['c[0].ports[1].name: Duplicate value: "p"'],
  ],
  [
    'mount below the root of a volume',
    container({ volumeMounts: [{ name: 'v', mountPath: '/x', subPath: '../y' }] }),
    ['c[0].volumeMounts.subPath: Invalid value: "../y": must not contain \'..\''],
  ],
  [
    'pull in a known way',
    container({ imagePullPolicy: 'x' }),
    ['c[0].imagePullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"'],
  ],
  [
    'are not privileged',
    container({ securityContext: { privileged: true, runAsUser: -1 } }),
    [
      'c[0].securityContext.privileged: Forbidden: disallowed by cluster policy',
      'c[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
  ],
  [
    'ask for known things',
    container({ resources: { limits: { foo: '1' } } }),
    [
      'c[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'c[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
    ],
  ],
  [
    'limit what cannot be shared',
    container({ resources: { requests: { 'a.b/c': '1' } } }),
    ['c[0].resources.limits: Required value: Limit must be set for non overcommitable resources'],
  ],
  [
    'ask for all that cannot be shared',
    container({ resources: { requests: { 'a.b/c': '1' }, limits: { 'a.b/c': '2' } } }),
    ['c[0].resources.requests: Invalid value: "1": must be equal to a.b/c limit of 2'],
  ],
  [
    'ask for more than huge pages',
    container({ resources: { requests: { 'hugepages-2Mi': '2Mi' }, limits: { 'hugepages-2Mi': '2Mi' } } }),
    ['c[0].resources: Forbidden: HugePages require cpu or memory'],
  ],
]);

const toleration = (fields: object) => () => validateTolerations([fields], 't');

table('tolerations', [
  ['may be of everything', toleration({ operator: 'Exists' }), []],
  [
    'name what they tolerate',
    toleration({}),
    [
      't[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'know two operators',
    toleration({ key: 'a', operator: 'x' }),
    ['t[0].operator: Unsupported value: "x": supported values: "Equal", "Exists"'],
  ],
  [
    'do not compare',
    toleration({ key: 'a', operator: 'Lt', value: '1' }),
    ['t[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"'],
  ],
  [
    'exist without a value',
    toleration({ key: 'a', operator: 'Exists', value: 'b' }),
    ['t[0].operator: Invalid value: "b": value must be empty when `operator` is \'Exists\''],
  ],
  [
    'know the effects',
    toleration({ key: 'a', effect: 'x' }),
    ['t[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
  ],
]);
