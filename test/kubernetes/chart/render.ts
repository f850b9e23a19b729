import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';
import { chart, helm } from './helm.ts';
import type { Values } from './value-sets.ts';

export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- of any kind: the API server says whether they are well formed
  readonly [field: string]: any;
}

export const namespace = 'macs';

/** Cached: many tests render the same. */
const known = new Map<string, Promise<readonly Rendered[]>>();

/** All objects of a release, including hooks. */
export const render = (values: Values = {}, release = 'tartan'): Promise<readonly Rendered[]> => {
  const key = JSON.stringify([values, release]);
  const rendering = known.get(key) ?? rendered(values, release);
  known.set(key, rendering);
  return rendering;
};

const rendered = async (values: Values, release: string): Promise<readonly Rendered[]> => {
  const { code, stdout, stderr } = await helm(['template', release, chart, '--namespace', namespace], values);
  assert.equal(code, 0, stderr);
  return parseAllDocuments(stdout).flatMap((document) => {
    assert.deepEqual(document.errors, []);
    const object = document.toJS() as Rendered | null;
    return object === null ? [] : [object];
  });
};

/** helm's error for these values. */
export const refusal = async (values: Values, release = 'tartan'): Promise<string> => {
  const { code, stderr } = await helm(['template', release, chart, '--namespace', namespace], values);
  assert.notEqual(code, 0, 'helm took these values');
  return stderr;
};

export const ofKind = (objects: readonly Rendered[], kind: string): readonly Rendered[] =>
  objects.filter((object) => object.kind === kind);

export const only = (objects: readonly Rendered[], kind: string, name?: string): Rendered => {
  const found = ofKind(objects, kind).filter(({ metadata }) => name === undefined || metadata.name === name);
  assert.equal(found.length, 1, `${found.length} of ${kind} ${name ?? ''}`);
  return found[0] as Rendered;
};

/** The Deployment of one program of a release. */
export const deploymentOf = (objects: readonly Rendered[], component = 'provider'): Rendered =>
  only(
    objects.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === component),
    'Deployment',
  );

/** Its arguments; by default those of the manager. */
export const argsOf = (objects: readonly Rendered[], component?: string): readonly string[] =>
  deploymentOf(objects, component)['spec'].template.spec.containers[0].args;
