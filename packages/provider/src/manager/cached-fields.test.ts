import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, finalizers, secretKeys } from '@tartan/api';
import { withoutSecretValues } from '../host-work/secrets.ts';
import { trimNode, trimObject, trimPod, trimSecret } from './caches.ts';

const keys = secretKeys.machine;
const metadata = {
  name: 'it',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  managedFields: [{ manager: 'somebody' }],
};

describe('the fields that caches keep', () => {
  test('of a Pod are finalizers, deletion, Node, phase, and its reference for events', () => {
    const kept = {
      ...metadata,
      namespace: 'runners',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: [finalizers.vmCleanup],
    };
    const pod = trimPod({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...kept, labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: {
        nodeName: 'mac-1',
        containers: [{ name: 'vm', image: 'macos', env: [{ name: 'TOKEN', value: 'secret' }] }],
      },
      status: { phase: 'Running' },
    });
    const { managedFields: _, ...rest } = kept;
    assert.deepEqual(pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: rest,
      spec: { containers: [], nodeName: 'mac-1' },
    });
  });

  test('of a Node are what decisions read, and nothing that a heartbeat changes', () => {
    const ready = { type: 'Ready', status: 'True', message: 'ok', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const heartbeat = { reason: 'KubeletReady', lastHeartbeatTime: '2026-01-02T00:00:00Z' };
    const kept = { [annotations.hostConfigHash]: 'h', [annotations.cordonedForRoll]: '' };
    const taints = [{ key: 'k', effect: 'NoSchedule' as const }];
    const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
    const node = trimNode({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { ...metadata, labels: { a: 'b' }, annotations: { ...kept, other: 'x' } },
      spec: { providerID: 'x', unschedulable: true, taints, podCIDR: '10.0.0.0/24' },
      status: {
        addresses,
        conditions: [
          { ...ready, ...heartbeat },
          { type: 'VMStart', status: 'False', ...heartbeat },
          { type: 'DiskPressure', status: 'False' },
        ],
        images: [{ names: ['i'] }],
        volumesInUse: ['v'],
        capacity: { cpu: '8' },
      },
    });
    const { managedFields: _, ...rest } = metadata;
    assert.deepEqual(node, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { ...rest, labels: { a: 'b' }, annotations: kept },
      spec: { providerID: 'x', unschedulable: true, taints },
      status: { addresses, conditions: [ready, { type: 'VMStart', status: 'False' }] },
    });
  });

  test('of a Secret exclude its data, also in the last-applied annotation', () => {
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"value":"c2VjcmV0"}}' };
    const secret = trimSecret({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, namespace: 'n', annotations: applied },
      data: { value: 'c2VjcmV0' },
    });
    assert.doesNotMatch(JSON.stringify(secret), /c2VjcmV0/);
    assert.equal(secret.metadata.name, 'it');
  });

  test('of the Secret of a machine are its user, its server and its machine, and whether there is a password', () => {
    const encode = (text: string): string => Buffer.from(text).toString('base64');
    const trimmed = (password: string) =>
      withoutSecretValues({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          ...metadata,
          namespace: 'n',
          labels: { a: 'b' },
          annotations: {
            [annotations.serverID]: 'server-1',
            [annotations.machineUID]: 'uid-1',
            'kubectl.kubernetes.io/last-applied-configuration': password,
          },
        },
        data: {
          [keys.username]: encode('m1'),
          [keys.sudoPassword]: encode(password),
          [keys.hostFingerprint]: encode('SHA256:x'),
        },
      });
    const kept = trimmed('hunter2');
    assert.doesNotMatch(JSON.stringify(kept), /hunter2|aHVudGVyMg|SHA256/);
    const { managedFields: _, ...rest } = metadata;
    assert.deepEqual(kept.metadata, {
      ...rest,
      namespace: 'n',
      annotations: { [annotations.serverID]: 'server-1', [annotations.machineUID]: 'uid-1' },
    });
    assert.equal(kept.data?.[keys.username], encode('m1'));
    assert.ok(kept.data?.[keys.sudoPassword]);
    // What counts as no password when the Secret itself is read.
    for (const none of ['', '\n', '<sealed>\n']) assert.equal(trimmed(none).data?.[keys.sudoPassword], undefined);
  });

  test('of our own kinds are all but managedFields and the last-applied annotation', () => {
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', mine: 'stays' };
    const { managedFields: _, ...rest } = metadata;
    assert.deepEqual(trimObject({ metadata: { ...metadata, annotations: applied } }), {
      metadata: { ...rest, annotations: { mine: 'stays' } },
    });
  });
});
