import { flushCompileCache } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { inProcessCluster } from '../../../../contract/in-process-cluster.ts';
import { createKubernetes } from '../../../kubernetes.ts';

/**
 * A server with writers, to be killed. Prints to stdout what was acknowledged: `put NAME VERSION`, `gone NAME`; and what a watch has seen:
 * `seen VERSION`. Arguments: the data folder, and a word that makes the names of this run unique.
 */
const [folder = '', life = ''] = process.argv.slice(2);
const writers = 4;
const path = '/api/v1/namespaces/default/configmaps';

// Normally written at exit, but this process gets killed.
flushCompileCache();
const kubernetes = await createKubernetes({ data: folder });
const cluster = inProcessCluster(kubernetes.handle);
// Writes to a pipe are synchronous: the reader gets every line.
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const send = async (method: string, at: string, body?: unknown): Promise<string> => {
  const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
  const answer = await cluster.request({ method, path: at, headers, ...(body === undefined ? {} : { body }) });
  if (answer.code >= 300) throw new Error(`${method} ${at}: ${answer.text}`);
  return JSON.parse(answer.text).metadata.resourceVersion;
};

const write = async (writer: number): Promise<never> => {
  for (let round = 0; ; round++) {
    const name = `${life}-${writer}-${round}`;
    const made = await send('POST', path, { metadata: { name }, data: { round: 'x'.repeat(round % 500) } });
    say(`put ${name} ${made}`);
    say(`put ${name} ${await send('PATCH', `${path}/${name}`, { data: { patched: String(round) } })}`);
    if (round % 3 === 2) {
      const old = `${life}-${writer}-${round - 1}`;
      await send('DELETE', `${path}/${old}`);
      say(`gone ${old}`);
    }
    await setImmediate();
  }
};

const watch = async (): Promise<void> => {
  const { events } = await cluster.stream({ method: 'GET', path: `${path}?watch=true` });
  for await (const { object } of events) say(`seen ${object.metadata.resourceVersion}`);
};

await setImmediate();
void watch();
await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
