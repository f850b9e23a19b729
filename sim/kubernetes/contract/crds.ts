import { read, readList } from './read.ts';
import { type BehaviourContext, unique } from './behaviour-context.ts';

export interface Definition {
  kind: string;
  plural: string;
  singular?: string;
  shortNames?: string[];
  categories?: string[];
  scope?: 'Namespaced' | 'Cluster';
  /** Of the one version v1. */
  version: Record<string, unknown>;
}

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A definition in a unique group. */
export const definition = (
  { kind, plural, singular, shortNames, categories, scope = 'Namespaced', version }: Definition,
  group = `${unique('contract')}.example.com`,
): { group: string; name: string; body: Record<string, unknown> } => ({
  group,
  name: `${plural}.${group}`,
  body: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        kind,
        plural,
        ...(singular ? { singular } : {}),
        ...(shortNames ? { shortNames } : {}),
        ...(categories ? { categories } : {}),
      },
      versions: [{ name: 'v1', served: true, storage: true, ...version }],
    },
  },
});

export const isTrue = (object: unknown, type: string): boolean =>
  readList(object, 'status.conditions').some(
    (condition) => read(condition, 'type') === type && read(condition, 'status') === 'True',
  );

/** Creates a definition and waits until its objects are served. It is deleted at the end of the run. */
export const establish = async (
  context: BehaviourContext,
  wanted: Definition,
): Promise<{ group: string; path: string }> => {
  const { group, name, body } = definition(wanted);
  const path = `${definitions}/${name}`;
  await context.create(definitions, body);
  context.deleteAfterRun(path);
  await context.waitFor(path, (crd) => isTrue(crd, 'Established'));
  // The apiextensions server starts to serve the objects a moment after the condition is set.
  await context.eventually(`${wanted.plural} to be served`, async () => {
    const answer = await context.get(`/apis/${group}/v1/${wanted.plural}`);
    return answer.code === 200 ? answer : undefined;
  });
  return { group, path };
};
