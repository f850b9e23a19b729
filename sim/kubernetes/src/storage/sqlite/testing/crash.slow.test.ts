import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { inProcessCluster } from '../../../../contract/in-process-cluster.ts';
import { createKubernetes } from '../../../kubernetes.ts';

const path = '/api/v1/namespaces/default/configmaps';
const folders = 3;
const lives = 4;
/** In each server. */
const writers = 4;

/** What a server has acknowledged before it was killed. */
interface Acknowledged {
  /** The version of each object; absent once it was deleted. */
  versions: Map<string, number>;
  gone: Set<string>;
  /** The last version that a watch has seen. */
  seen: number;
}

/** Runs a server until it has printed so many lines, then kills it. */
const liveAndDie = async (folder: string, life: string, lines: number, so: Acknowledged): Promise<void> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), folder, life], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Most of a short run is compilation.
    env: { NODE_COMPILE_CACHE: join(folder, '..', 'compiled'), ...process.env },
  });
  const exited = once(child, 'exit');
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, subject = '', version] = line.split(' ');
    if (what === 'put') so.versions.set(subject, Number(version));
    if (what === 'gone') {
      so.versions.delete(subject);
      so.gone.add(subject);
    }
    if (what === 'seen') so.seen = Math.max(so.seen, Number(subject));
    if (++said === lines) child.kill('SIGKILL');
  }
  await exited;
  assert.ok(said >= lines, `life ${life} ended by itself after ${said} lines`);
};

/** The content of the folder, and the events of a watch from the last version seen. */
const lookInto = async (folder: string, since: number) => {
  const kubernetes = await createKubernetes({ data: folder, controllers: false });
  const cluster = inProcessCluster(kubernetes.handle);
  const { json } = await cluster.request({ method: 'GET', path });
  const list = json as {
    metadata: { resourceVersion: string };
    items: { metadata: { name: string; resourceVersion: string } }[];
  };
  const found = new Map(list.items.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)]));
  assert.ok(Number(list.metadata.resourceVersion) >= since, 'versions went back');
  const stream = await cluster.stream({ method: 'GET', path: `${path}?watch=true&resourceVersion=${since}` });
  // Writes an object, so that the watch is complete once it shows it.
  const body = { metadata: { name: `end-${list.metadata.resourceVersion}` } };
  await cluster.request({ method: 'POST', path, body });
  const resumed = new Set<number>();
  for await (const { type, object } of stream.events) {
    assert.notEqual(type, 'ERROR', 'the last 10,000 changes are kept');
    if (object.metadata.name === body.metadata.name) break;
    resumed.add(Number(object.metadata.resourceVersion));
  }
  stream.close();
  await cluster.close();
  kubernetes.stop();
  return {
    revision: Number(list.metadata.resourceVersion),
    found,
    resumed,
    caCertificate: kubernetes.identity.caCertificate,
  };
};

describe('a server killed under load', () => {
  let root = '';
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'tartan-crash-'));
  });
  after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

  const survive = async (index: number): Promise<void> => {
    const folder = join(root, `data-${index}`);
    const so: Acknowledged = { versions: new Map(), gone: new Set(), seen: 0 };
    let authority: string | undefined;
    let revision = 0;
    for (let life = 0; life < lives; life++) {
      const lines = 1 + Math.floor(Math.random() * 400);
      await liveAndDie(folder, `${index}-${life}`, lines, so);
      const now = await lookInto(folder, so.seen);
      const missing: string[] = [];
      for (const [name, version] of so.versions) {
        const kept = now.found.get(name);
        if (kept === undefined) missing.push(name);
        else assert.ok(kept >= version, `${name} is ${kept}, but ${version} was acknowledged`);
        if (version > so.seen && kept === version) assert.ok(now.resumed.has(version), `the watch left ${name} out`);
      }
      // The last write of each writer may have happened without being acknowledged: at most one deletion each.
      assert.ok(missing.length <= writers, `${missing.join(', ')} are lost`);
      for (const name of missing) {
        so.versions.delete(name);
        so.gone.add(name);
      }
      for (const name of so.gone) assert.ok(!now.found.has(name), `${name} is back`);
      assert.ok(now.revision >= Math.max(revision, so.seen, ...so.versions.values()), 'versions went back');
      assert.equal(now.caCertificate, (authority ??= now.caCertificate));
      revision = now.revision;
    }
  };

  it(`has every acknowledged write after its restart, ${folders * lives} times`, { timeout: 120_000 }, async () => {
    await Promise.all(Array.from({ length: folders }, (_, index) => survive(index)));
  });
});
