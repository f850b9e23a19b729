import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remoteRights } from '@tartan/provider';
import type { Audited } from './audit.ts';
import type { Stage } from './stage.ts';
import { namespace } from './values.ts';

const core = `system:serviceaccount:${namespace}:capi-remote`;

/**
 * In the list of tuist/tuist#10981, and not used by core 1.14: `get` of Nodes and Pods. Used where the API server streams no lists, and by a watch that
 * was cut at a bad moment: `list` of what is watched. Used where disks are attached: `list` of PersistentVolumes.
 */
const mayBeUnused = ['get nodes', 'list nodes', 'get pods', 'list namespaces', 'list persistentvolumes'];

/** A kubelet that asks for a Pod which is gone is told that it is none of its business: so Kubernetes says it, and no right would help. */
const isGonePod = ({ user, verb, what, message }: Audited): boolean =>
  user.startsWith('system:node:') && verb === 'get' && what === 'pods' && message.includes('no relationship found');

/** What the API server wrote down of all that has happened before. */
export const account = (on: () => Stage): void => {
  test('nobody was refused anything: what each may do is enough', () => {
    const refused = on()
      .audit()
      .filter((each) => (each.code === 403 || each.code === 401) && !isGonePod(each))
      .map(
        ({ user, verb, what, namespace: where, name, message }) =>
          `${user}: ${verb} ${what} ${where}/${name}: ${message}`,
      );
    assert.deepEqual([...new Set(refused)], []);
  });

  test('Cluster API used every right of capi-remote, but for those that are known to wait for their day', () => {
    const used = new Set(
      on()
        .audit()
        // With its kubeconfig we ask ourselves whether that works.
        .filter(({ user, agent }) => user === core && agent !== 'tartan')
        .map(({ verb, what }) => `${verb} ${what.replace(/\..*$/, '')}`),
    );
    const granted = remoteRights.flatMap((right) =>
      right.verbs.flatMap((verb) =>
        ('resources' in right ? right.resources : right.nonResourceURLs).map((what) => `${verb} ${what}`),
      ),
    );
    assert.deepEqual(
      granted.filter((each) => !used.has(each) && !mayBeUnused.includes(each)),
      [],
    );
  });

  test('no secret is in what was said', () => {
    const { SCW_SECRET_KEY: secret = '?' } = on().macs.environment;
    assert.ok(!on().whatWasSaid().includes(secret));
  });
};
