import type { KubeObject } from '../object.ts';

/** Field names of core/v1 and of events.k8s.io/v1. All others are the same in both. */
const renamed: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

const rename = (object: KubeObject, apiVersion: string, names: ReadonlyMap<string, string>): KubeObject => ({
  ...(Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value])) as KubeObject),
  apiVersion,
});

const toCoreNames = new Map(renamed.map(([core, events]) => [events, core]));
const toEventsNames = new Map(renamed);

/** Both event APIs show one store, in which events stand as core/v1. */
export const toCoreEvent = (event: KubeObject): KubeObject => {
  const core = rename(event, 'v1', toCoreNames);
  core['reportingComponent'] ??= '';
  core['reportingInstance'] ??= '';
  return core;
};

export const fromCoreEvent = (event: KubeObject): KubeObject => {
  const converted = rename(event, 'events.k8s.io/v1', toEventsNames);
  for (const field of ['reportingController', 'reportingInstance'])
    if (converted[field] === '') delete converted[field];
  return converted;
};
