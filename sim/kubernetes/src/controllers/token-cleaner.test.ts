import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { timeLeft } from './token-cleaner.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const secret = (expiration: string | undefined, type = 'bootstrap.kubernetes.io/token'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  type,
  data: expiration === undefined ? {} : { expiration: Buffer.from(expiration).toString('base64') },
});

const table: [string, KubeObject, number][] = [
  ['one minute left', secret('2026-01-01T00:01:00Z'), 60_000],
  ['in another time zone', secret('2026-01-01T01:01:00+01:00'), 60_000],
  ['ends now', secret('2026-01-01T00:00:00Z'), 0],
  ['long gone', secret('2020-01-01T00:00:00Z'), 0],
  ['no end', secret(undefined), Number.POSITIVE_INFINITY],
  ['unreadable', secret('tomorrow'), 0],
  ['a date that only JavaScript reads', secret('2027-01-01'), 0],
  ['no bootstrap token', secret('2020-01-01T00:00:00Z', 'Opaque'), Number.POSITIVE_INFINITY],
];
for (const [name, token, expected] of table) {
  test(`lifetime of a bootstrap token: ${name}`, () => assert.equal(timeLeft(token, now), expected));
}
