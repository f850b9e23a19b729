import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { schemaOf } from '../generated/catalogue.ts';
import type { KubeObject } from '../object.ts';
import { canonicalBase64, canonicalize } from './canonical-form.ts';

const spelled = (group: string, kind: string, fields: object): Record<string, unknown> => {
  const schema = schemaOf(group, 'v1', kind);
  assert.ok(schema);
  const apiVersion = group === '' ? 'v1' : `${group}/v1`;
  const object = { apiVersion, kind, metadata: { name: 'x' }, ...structuredClone(fields) } as unknown as KubeObject;
  canonicalize(object, schema);
  const { apiVersion: _a, kind: _k, metadata: _m, ...rest } = object;
  return rest;
};

describe('values that Go omits from a built-in kind', () => {
  it('are nulls, empty lists and maps, and zero values', () => {
    const pod = spelled('', 'Pod', {
      spec: {
        containers: [{ name: 'a', image: 'a', command: [], args: null, stdin: false, workingDir: '' }],
        nodeSelector: {},
        hostNetwork: false,
        hostname: '',
      },
    });
    assert.deepEqual(pod, { spec: { containers: [{ name: 'a', image: 'a', resources: {} }] }, status: {} });
  });

  it('do not include zero values of pointers', () => {
    const container = { name: 'a', image: 'a', resources: {}, securityContext: { privileged: false } };
    const spec = {
      containers: [container],
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      priority: 0,
      volumes: [
        { name: 'h', hostPath: { path: '/', type: '' } },
        { name: 'e', emptyDir: {} },
      ],
    };
    assert.deepEqual(spelled('', 'Pod', { spec })['spec'], spec);
    assert.deepEqual(spelled('coordination.k8s.io', 'Lease', { spec: { holderIdentity: '', leaseTransitions: 0 } }), {
      spec: { holderIdentity: '', leaseTransitions: 0 },
    });
  });

  it('do not include values of a map: null becomes an empty string', () => {
    assert.deepEqual(spelled('', 'ConfigMap', { data: { k: null }, binaryData: {} }), { data: { k: '' } });
  });
});

describe('values that Go adds to a built-in kind', () => {
  it('are structs and required fields', () => {
    assert.deepEqual(spelled('', 'Node', {}), {
      spec: {},
      status: {
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          machineID: '',
          systemUUID: '',
          bootID: '',
          kernelVersion: '',
          osImage: '',
          containerRuntimeVersion: '',
          kubeletVersion: '',
          kubeProxyVersion: '',
          operatingSystem: '',
          architecture: '',
        },
      },
    });
  });

  it('are nulls for lists and times that it never leaves out', () => {
    assert.deepEqual(spelled('rbac.authorization.k8s.io', 'ClusterRole', { rules: [] }), { rules: null });
    assert.deepEqual(spelled('', 'Event', { involvedObject: {} }), {
      involvedObject: {},
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: '',
      reportingInstance: '',
    });
  });

  it('are the defaults in the schema', () => {
    const pod = spelled('', 'Pod', {
      spec: { containers: [{ name: 'a', image: 'a', ports: [{ containerPort: 80, protocol: '' }] }] },
    });
    const spec = pod['spec'] as { containers: { ports: unknown }[] };
    assert.deepEqual(spec.containers[0]?.ports, [{ containerPort: 80, protocol: 'TCP' }]);
  });
});

describe('values with one canonical form', () => {
  it('are quantities, rounded for amounts of resources', () => {
    const node = spelled('', 'Node', {
      status: { capacity: { cpu: '0.5', memory: '1024Mi', pods: 110, x: '100.5m' } },
    });
    assert.deepEqual((node['status'] as Record<string, unknown>)['capacity'], {
      cpu: '500m',
      memory: '1Gi',
      pods: '110',
      x: '101m',
    });
  });

  it('are times, to the second or to the microsecond', () => {
    const taint = { key: 'a', effect: 'NoExecute', timeAdded: '2026-01-01T01:00:00.5+01:00' };
    assert.deepEqual(spelled('', 'Node', { spec: { taints: [taint] } })['spec'], {
      taints: [{ key: 'a', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }],
    });
    assert.deepEqual(
      spelled('coordination.k8s.io', 'Lease', { spec: { renewTime: '2026-01-01T01:00:00.000005+01:00' } }),
      {
        spec: { renewTime: '2026-01-01T00:00:00.000005Z' },
      },
    );
  });

  it('are bytes', () => {
    assert.deepEqual(spelled('', 'Secret', { data: { a: 'YR==\n' } }), { data: { a: 'YQ==' } });
  });

  const refusals: [string, string, object, string][] = [
    [
      '',
      'Pod',
      { spec: { containers: [{ resources: { limits: { cpu: 'abc' } } }] } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['', 'Secret', { data: { a: '!' } }, 'illegal base64 data at input byte 0'],
    [
      'coordination.k8s.io',
      'Lease',
      { spec: { renewTime: '2026-01-01T00:00:00Z' } },
      'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    ],
  ];
  for (const [group, kind, fields, why] of refusals) {
    it(`are refused if they are invalid: ${kind}`, () => {
      assert.throws(() => spelled(group, kind, fields), {
        code: 400,
        message: `${kind} in version "v1" cannot be handled as a ${kind}: ${why}`,
      });
    });
  }

  it('are unchanged the second time', () => {
    const once = spelled('', 'Pod', {
      spec: { containers: [{ name: 'a', image: 'a', resources: { limits: { cpu: '1.5' } } }] },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    assert.deepEqual(spelled('', 'Pod', once), once);
  });
});

describe('base64', () => {
  const table: [string, string | number][] = [
    ['', ''],
    ['YQ==', 'YQ=='],
    ['YR==', 'YQ=='],
    ['YQ==\n', 'YQ=='],
    ['YW\nI=', 'YWI='],
    ['YQ=\n=', 'YQ=='],
    ['YWJj', 'YWJj'],
    ['YQ', 0],
    ['YWJjZA', 4],
    ['Y===', 1],
    ['YQ=', 3],
    ['YQ=a', 2],
    ['YQ= =', 2],
    ['YQ==YQ==', 4],
    ['YWJj\nYQ', 5],
    ['=', 0],
    ['YWI=x', 4],
    ['Y?==', 1],
    ['!!', 0],
    ['YWJj?', 4],
  ];
  for (const [text, expected] of table) {
    it(`${JSON.stringify(text)} is ${typeof expected === 'number' ? `refused at byte ${expected}` : expected}`, () =>
      assert.equal(canonicalBase64(text), expected));
  }
});
