import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createLogger, createRedactor } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createHostPool } from '@tartan/scaleway';
import { parseCredentials } from '../flags/parse-credentials.ts';
import { createScalewayKey, decideKey, readCredentialFiles } from './scaleway-key.ts';

const first = '0b5e2a0c-1111-4222-8333-94d8f6c1aaaa';
const second = '1c6f3b1d-1111-4222-8333-94d8f6c1aaaa';
const project = 'c0ffee00-1111-4222-8333-94d8f6c1bbbb';
const otherProject = 'decaf000-1111-4222-8333-94d8f6c1bbbb';
const secretOf = (key: string, projectID = project) => ({
  SCW_ACCESS_KEY: 'SCW0123456789ABCDEFG',
  SCW_SECRET_KEY: `${key}\n`,
  SCW_DEFAULT_PROJECT_ID: projectID,
});

/** A Secret as kubelet mounts it: files are links into `..data`, which is a link that is replaced atomically. */
const mountSecret = async (t: TestContext) => {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-secret-'));
  t.after(() => rm(folder, { recursive: true }));
  let version = 0;
  const write = async (data: Readonly<Record<string, string>>): Promise<void> => {
    version += 1;
    await mkdir(join(folder, `..${version}`));
    for (const [name, text] of Object.entries(data)) await writeFile(join(folder, `..${version}`, name), text);
    await symlink(`..${version}`, join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  await write(secretOf(first));
  for (const name of Object.keys(secretOf(first))) await symlink(join('..data', name), join(folder, name));
  return { folder, write };
};

const createHarness = async (t: TestContext) => {
  const { folder, write } = await mountSecret(t);
  const lines: string[] = [];
  const redactor = createRedactor();
  const log = createLogger({
    write: (line) => lines.push(line),
    clock: manualClock(),
    level: 'debug',
    redact: redactor,
  });
  const readCredentials = () => parseCredentials(readCredentialFiles(folder));
  const parsed = readCredentials();
  assert.ok('credentials' in parsed);
  const sent: (string | null)[] = [];
  const pool = createHostPool({
    accessKey: parsed.credentials.accessKey,
    secretKey: createScalewayKey({ credentials: parsed.credentials, readCredentials, log, redactor }),
    projectID: project,
    fetch: async (_, init) => {
      sent.push(new Headers(init?.headers).get('x-auth-token'));
      return Response.json({ servers: [], total_count: 0 });
    },
  });
  const request = async (): Promise<string | null | undefined> => {
    await pool.listServers('fr-par-1');
    return sent.at(-1);
  };
  return { write, lines, request };
};

describe('the API key of Scaleway in a mounted Secret', () => {
  it('is used by the next request after it was replaced, without a restart', async (t) => {
    const { write, lines, request } = await createHarness(t);
    assert.equal(await request(), first);
    await write(secretOf(second));
    assert.equal(await request(), second);
    assert.equal(await request(), second);
    const said = lines.filter((line) => line.includes('API key'));
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /The API key of Scaleway was replaced/);
  });

  it('stays in use while the new one is malformed, which is logged once and without a value', async (t) => {
    const { write, lines, request } = await createHarness(t);
    await write({ ...secretOf(second), SCW_SECRET_KEY: `x${second}` });
    assert.deepEqual([await request(), await request()], [first, first]);
    const said = lines.filter((line) => line.includes('cannot be used'));
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /SCW_SECRET_KEY is not a UUID/);
    assert.ok(!lines.join().includes(second) && !lines.join().includes(first));
    await write(secretOf(second));
    assert.equal(await request(), second);
  });
});

describe('credentials that were read while others are in use', () => {
  const current = parseCredentials(secretOf(first));
  assert.ok('credentials' in current);
  const decide = (env: Readonly<Record<string, string>>) => decideKey(current.credentials, parseCredentials(env));

  it('are kept, replace them or are refused', () => {
    assert.equal(decide(secretOf(first)).kind, 'keep');
    assert.equal(decide(secretOf(second)).kind, 'replace');
    assert.equal(decide({}).kind, 'refuse');
    const elsewhere = decide(secretOf(second, otherProject));
    assert.ok(elsewhere.kind === 'refuse');
    assert.match(elsewhere.problem, /SCW_DEFAULT_PROJECT_ID is another project/);
  });
});
