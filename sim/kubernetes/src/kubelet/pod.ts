import { isObject, type KubeObject } from '../object.ts';
import type { Call } from '../resource.ts';
import { notFound } from '../status/api-error.ts';

export const podOf = ({ context: { api }, namespace, name }: Call): KubeObject => {
  const pods = api.find('', 'pods');
  const pod = pods && api.get(pods, namespace, name);
  if (!pod) throw notFound({ group: '', plural: 'pods', kind: 'Pod' }, name);
  return pod;
};

/** '' as long as the Pod is not scheduled. */
export const nodeNameOf = (pod: KubeObject): string => {
  const nodeName = isObject(pod['spec']) ? pod['spec']['nodeName'] : undefined;
  return typeof nodeName === 'string' ? nodeName : '';
};
