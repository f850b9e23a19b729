import type { Api } from '../../api/api.ts';
import { fieldsOf, textOf } from '../../kinds/fields.ts';
import type { KubeObject } from '../../object.ts';
import { podReferences } from './pod-references.ts';

export type Related = 'pods' | 'secrets' | 'configmaps' | 'serviceaccounts';

/** Which objects the Pods of a Node need. A Node reads those and no others. */
export interface NodeGraph {
  related(node: string, kind: Related, namespace: string, name: string): boolean;
  stop(): void;
}

export const mirrorAnnotation = 'kubernetes.io/config.mirror';

const boundTo = (pod: KubeObject | undefined): string => textOf(fieldsOf(pod?.['spec'])['nodeName']);

/** A mirror Pod is made by the Node itself, so that it must not open any door. */
const neededBy = (pod: KubeObject): string[] => {
  const { name, namespace = '', annotations = {} } = pod.metadata;
  const key = (kind: Related, of: string): string => `${kind}/${namespace}/${of}`;
  if (Object.hasOwn(annotations, mirrorAnnotation)) return [key('pods', name)];
  const { secrets, configMaps, serviceAccounts } = podReferences(pod);
  return [
    key('pods', name),
    ...secrets.map((each) => key('secrets', each)),
    ...configMaps.map((each) => key('configmaps', each)),
    ...serviceAccounts.map((each) => key('serviceaccounts', each)),
  ];
};

/** What a bound Pod refers to does not change any more, so that only its coming, its binding and its going count. */
export const nodeGraph = (api: Api): NodeGraph => {
  /** By `node/kind/namespace/name`: how many Pods need it there. */
  const needs = new Map<string, number>();
  const count = (pod: KubeObject, by: 1 | -1): void => {
    for (const each of neededBy(pod)) {
      const key = `${boundTo(pod)}/${each}`;
      const left = (needs.get(key) ?? 0) + by;
      if (left > 0) needs.set(key, left);
      else needs.delete(key);
    }
  };
  const pods = api.find('', 'pods');
  if (pods) for (const pod of api.list(pods, '')) if (boundTo(pod) !== '') count(pod, 1);
  const stop = pods
    ? api.subscribe(pods, ({ object, previous }) => {
        if (object && previous && boundTo(object) === boundTo(previous)) return;
        if (previous && boundTo(previous) !== '') count(previous, -1);
        if (object && boundTo(object) !== '') count(object, 1);
      })
    : () => {};
  return { related: (node, kind, namespace, name) => needs.has(`${node}/${kind}/${namespace}/${name}`), stop };
};
