import assert from 'node:assert/strict';
import { eventually } from '@tartan/kube/testing';
import type { KubeObject } from '../src/object.ts';
import { type Answer, type Caller, type ClusterUnderTest, itemsIn, objectIn } from './cluster.ts';
import { readText } from './read.ts';
import { type Watching, watching } from './watching.ts';
import { within } from './within.ts';

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

interface Ask {
  headers?: Record<string, string>;
  as?: Caller;
}

/** The context of one behaviour: a cluster, its own namespace, and cleanup. */
export interface BehaviourContext {
  cluster: ClusterUnderTest;
  /** Return the response, also if it is an error. */
  get(path: string, ask?: Ask): Promise<Answer>;
  post(path: string, body: unknown, ask?: Ask): Promise<Answer>;
  put(path: string, body: unknown, ask?: Ask): Promise<Answer>;
  patch(path: string, type: keyof typeof patchTypes, body: unknown, ask?: Ask): Promise<Answer>;
  delete(path: string, body?: unknown, ask?: Ask): Promise<Answer>;
  /** The same, but any status except 2xx fails the behaviour. */
  fetch(path: string): Promise<KubeObject>;
  create(path: string, body: unknown): Promise<KubeObject>;
  replace(path: string, body: unknown): Promise<KubeObject>;
  edit(path: string, mergePatch: unknown): Promise<KubeObject>;
  remove(path: string, body?: unknown): Promise<unknown>;
  /** Path of a collection in this behaviour's own namespace. */
  collection(plural: string, groupVersion?: string): Promise<string>;
  /** This behaviour's own namespace. */
  namespace(): Promise<string>;
  watch(path: string): Promise<Watching>;
  /** Watches one object until `wanted` returns true. `undefined` stands for a missing object. */
  waitFor(path: string, wanted: (object: KubeObject | undefined) => boolean): Promise<KubeObject | undefined>;
  /** Polls until there is a result. For what cannot be watched, such as discovery. */
  eventually: typeof eventually;
  /** A unique name. */
  unique(prefix: string): string;
  /** Deletes that path when the behaviour is over. */
  deleteAfterBehaviour(path: string): void;
  /** Deletes that path when the whole run is over: emptying a namespace is slow, and no behaviour has to wait for it. */
  deleteAfterRun(path: string): void;
}

export const unique = (prefix: string): string => `${prefix}-${crypto.randomUUID().slice(0, 8)}`;

const apiRoot = (groupVersion: string): string =>
  groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;

const succeeded = (answer: Answer, what: string): KubeObject => {
  assert.ok(answer.code >= 200 && answer.code < 300, `${what}: ${answer.code} ${answer.text.slice(0, 1000)}`);
  return objectIn(answer);
};

/** Splits the path of an object into its collection and its name. */
const split = (path: string): { collection: string; name: string } => {
  const slash = path.lastIndexOf('/');
  return { collection: path.slice(0, slash), name: path.slice(slash + 1) };
};

const withQuery = (path: string, query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`;

export interface BehaviourOptions {
  cluster: ClusterUnderTest;
  deleteAfterRun: (path: string) => void;
}

/** `over` closes the watches of the behaviour and deletes its objects. */
export const startBehaviour = ({
  cluster,
  deleteAfterRun,
}: BehaviourOptions): { context: BehaviourContext; over: () => Promise<void> } => {
  const left: string[] = [];
  const watches: Watching[] = [];
  let own: Promise<string> | undefined;

  const send = (method: string, path: string, body: unknown, ask: Ask = {}): Promise<Answer> =>
    within(
      cluster.request({ method, path, ...(body === undefined ? {} : { body }), ...ask }),
      () => `${method} ${path}`,
    );

  const watch = async (path: string): Promise<Watching> => {
    const stream = await cluster.stream({ method: 'GET', path: withQuery(path, 'watch=true') });
    const opened = watching(stream);
    watches.push(opened);
    assert.equal(stream.code, 200, `watch of ${path}`);
    return opened;
  };

  const createNamespace = async (): Promise<string> => {
    const name = unique('contract');
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    succeeded(await send('POST', '/api/v1/namespaces', body), 'create a namespace');
    deleteAfterRun(`/api/v1/namespaces/${name}`);
    return name;
  };

  const context: BehaviourContext = {
    cluster,
    get: (path, ask) => send('GET', path, undefined, ask),
    post: (path, body, ask) => send('POST', path, body, ask),
    put: (path, body, ask) => send('PUT', path, body, ask),
    patch: (path, type, body, ask = {}) =>
      send('PATCH', path, body, { ...ask, headers: { 'content-type': patchTypes[type], ...ask.headers } }),
    delete: (path, body, ask) => send('DELETE', path, body, ask),
    fetch: async (path) => succeeded(await context.get(path), `GET ${path}`),
    create: async (path, body) => succeeded(await context.post(path, body), `POST ${path}`),
    replace: async (path, body) => succeeded(await context.put(path, body), `PUT ${path}`),
    edit: async (path, mergePatch) => succeeded(await context.patch(path, 'merge', mergePatch), `PATCH ${path}`),
    remove: async (path, body) => succeeded(await context.delete(path, body), `DELETE ${path}`),
    collection: async (plural, groupVersion = 'v1') =>
      `${apiRoot(groupVersion)}/namespaces/${await context.namespace()}/${plural}`,
    namespace: () => (own ??= createNamespace()),
    watch,
    waitFor: async (path, wanted) => {
      const { collection, name } = split(path);
      const only = withQuery(collection, `fieldSelector=metadata.name%3D${name}`);
      const answer = await context.get(only);
      const list = succeeded(answer, `GET ${only}`);
      let object = itemsIn(answer)[0];
      if (wanted(object)) return object;
      const events = await watch(withQuery(only, `resourceVersion=${readText(list, 'metadata.resourceVersion')}`));
      for (;;) {
        const event = await events.next();
        object = event.type === 'DELETED' ? undefined : event.object;
        if (wanted(object)) break;
      }
      events.close();
      return object;
    },
    eventually,
    unique,
    deleteAfterBehaviour: (path) => void left.push(path),
    deleteAfterRun,
  };

  const over = async (): Promise<void> => {
    for (const each of watches) each.close();
    for (const path of left.reverse()) await send('DELETE', path, undefined);
  };
  return { context, over };
};
