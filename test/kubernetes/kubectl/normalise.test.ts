import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalise } from './normalise.ts';

test('values that differ between runs are replaced', () => {
  const table: [text: string, normal: string][] = [
    ['uid: 7f1d8b1c-0d3f-4c55-9f7e-1f1a2b3c4d5e', 'uid: <uid>'],
    ['creationTimestamp: "2026-11-15T23:30:00Z"', 'creationTimestamp: "<time>"'],
    ['renewTime: "2026-11-15T23:30:00.123456Z"', 'renewTime: "<time>"'],
    ['CreationTimestamp:  Sun, 15 Nov 2026 23:30:00 +0000', 'CreationTimestamp:  <time>'],
    ['  resourceVersion: "123"', '  resourceVersion: <version>'],
    ['"resourceVersion": "123",', '"resourceVersion": <version>,'],
    ['Resource Version:  123', 'Resource Version:  <version>'],
    ['Unable to connect to https://127.0.0.1:41234/api', 'Unable to connect to <server>/api'],
    ['NAME   DATA   AGE\na      1      12s', 'NAME  DATA  AGE\na  1  <age>'],
    ['12s (x2 over 1m5s)  Warning', '<age> (x2 over <age>)  Warning'],
    ['generated-x2b4c', 'generated-<suffix>'],
    ['from kube-api-access-djtkc (ro)', 'from kube-api-access-<suffix> (ro)'],
    ['Normal  319d   x', 'Normal  <age>  x'],
    ['\\"resourceVersion\\":\\"542\\",', '\\"resourceVersion\\":<version>,'],
    ['-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----', '<pem>'],
    [`[X509SHA256=${'a1'.repeat(32)}]`, '[X509SHA256=<hash>]'],
    ['pod-1.18a1b2c3d4e5f607  Scheduled', 'pod-1.<suffix>  Scheduled'],
    ['E1115 23:30:30.123456   12345 memcache.go:265] x', '<log memcache.go> x'],
    ['--- /tmp/LIVE-123/v1.ConfigMap.x.y\t2026-11-15 23:30:00.1 +0000', '--- LIVE/v1.ConfigMap.x.y\t<time>'],
  ];
  for (const [text, normal] of table) assert.equal(normalise(text), normal);
});

test('values that a server decides stay', () => {
  for (const text of [
    'apiVersion: v1\nspec:\n  replicas: 3\n    - name: a',
    'cpu: 100m',
    'jane  60m  Pending',
    'memory: 16Gi',
    'exit code 1',
    'mac-2s',
  ]) {
    assert.equal(normalise(text), text);
  }
});
