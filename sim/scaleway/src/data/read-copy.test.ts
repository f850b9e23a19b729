import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ScalewayCopy } from '../scaleway.ts';
import { standardImages } from '../servers/images.ts';
import { readCopy, writeCopy } from './read-copy.ts';

const [image] = standardImages();
assert(image);
const copy: ScalewayCopy = {
  servers: [
    {
      id: 'a',
      zone: 'fr-par-1',
      name: 'one',
      type: 'M2-L',
      status: 'reinstalling',
      os: image,
      installs: 0,
      mac: undefined,
      ip: '127.0.0.1:20000',
      projectID: 'p',
      createdAt: 1,
      updatedAt: 2,
      delivered: true,
      password: 'secret',
      underWay: { kind: 'reinstall', since: 2, image, outcome: 'wiped' },
    },
  ],
  keys: [{ id: 'k', name: 'key', publicKey: 'ssh-ed25519 AAAA', projectID: 'p', createdAt: 3 }],
};

/** The same with one value replaced. */
const spoiled = (from: string, to: string): string => {
  const text = writeCopy(copy);
  assert.ok(text.includes(from), from);
  return text.replace(from, to);
};

describe('a copy of servers and keys', () => {
  test('is read as it was written', () => {
    const { servers, keys } = readCopy(writeCopy(copy));
    const { mac: _, ...server } = copy.servers[0] ?? assert.fail();
    assert.deepEqual([servers, keys], [[server], copy.keys]);
  });

  for (const [what, text, why] of [
    ['half of it', writeCopy(copy).slice(0, 200), /JSON/],
    ['nothing', '', /JSON/],
    ['no object', 'null', /its format is undefined/],
    ['a newer format', spoiled('"format": 1', '"format": 2'), /its format is 2, and this version knows 1 only/],
    ['no list', spoiled('"keys": [', '"key": ['), /it has no list of keys/],
    ['a server without its password', spoiled('"password": "secret"', '"password": null'), /server 1 has no password/],
    ['an image without a name', spoiled('"name": "macos', '"called": "macos'), /the image of server 1 has no name/],
    ['unknown work', spoiled('"kind": "reinstall"', '"kind": "sale"'), /under way with server 1 is unknown/],
    ['work without its begin', spoiled('"since": 2', '"since": "2"'), /the reinstall of server 1 has no since/],
    ['a key without its text', spoiled('"publicKey"', '"private"'), /key 1 has no publicKey/],
  ] as const) {
    test(`is refused if it is ${what}`, () => assert.throws(() => readCopy(text), why));
  }
});
