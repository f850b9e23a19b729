import assert from 'node:assert/strict';
import { isNewerResourceVersion, type Live } from '../../objects/object.ts';
import type { Informer, InformerEvent } from '../informer.ts';
import type { ModelServer, Thing } from './model-server.ts';

type Change = InformerEvent<Thing>;

const nameIn = (change: Change): string => (change.type === 'removed' ? change.previous : change.object).metadata.name;

/** A listener that remembers, and checks at each change that the cache holds just what has been told so far. */
export const recordEvents = (cache: Informer<Thing>): { changes: Change[]; leave: () => void } => {
  const changes: Change[] = [];
  const disagreements: string[] = [];
  const leave = cache.subscribe((change) => {
    changes.push(change);
    const key = `default/${nameIn(change)}`;
    const told = change.type === 'removed' ? undefined : change.object;
    if (cache.get(key) !== told) disagreements.push(key);
    if (told && !cache.byIndex('color', told.spec.color).includes(told)) disagreements.push(`${key} by color`);
    if (change.type !== 'added' && cache.byIndex('step', `${change.previous.spec.step}`).length > 0)
      disagreements.push(`${key} still by its old step`);
  });
  return {
    changes,
    leave: () => {
      leave();
      assert.deepEqual(disagreements, []);
    },
  };
};

/** Reads a story from an empty beginning, and answers how the world stands at its end. */
export const replayEvents = (changes: readonly Change[], server: ModelServer): Map<string, Live<Thing>> => {
  const real = new Set(server.history.map(({ object }) => JSON.stringify(object)));
  const world = new Map<string, Live<Thing>>();
  const latest = new Map<string, string>();
  for (const change of changes) {
    const name = nameIn(change);
    assert.equal(world.get(name), change.type === 'added' ? undefined : change.previous, `${name}: unexpected past`);
    if (change.type === 'removed') {
      world.delete(name);
      continue;
    }
    const { object } = change;
    const { resourceVersion, uid } = object.metadata;
    assert.ok(real.has(JSON.stringify(object)), `${name} never was in the state told`);
    assert.ok(
      isNewerResourceVersion(resourceVersion, latest.get(name) ?? '0'),
      `${name}: ${resourceVersion} is no news`,
    );
    if (change.type === 'changed') assert.equal(uid, change.previous.metadata.uid, `${name} changed its identity`);
    latest.set(name, resourceVersion);
    world.set(name, object);
  }
  return world;
};

const line = (type: string, { metadata }: Live<Thing>): string =>
  type === 'removed' ? `removed ${metadata.uid}` : `${type} ${metadata.uid} ${metadata.resourceVersion}`;

export const formatEvents = (changes: readonly Change[]): string[] =>
  changes.map((change) => line(change.type, change.type === 'removed' ? change.previous : change.object));

const words = { ADDED: 'added', MODIFIED: 'changed', DELETED: 'removed' } as const;

/** The story that a single list and a watch without any gap must tell: everything that happened after the list. */
export const expectedEvents = (server: ModelServer, listed: string): string[] =>
  server.history.filter(({ version }) => version > BigInt(listed)).map(({ type, object }) => line(words[type], object));
