import { isObject } from '../object.ts';
import type { Call } from '../resource.ts';
import { forbiddenTo, notFound } from '../status/api-error.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const audiencesOf = (spec: Record<string, unknown>): string[] =>
  list(spec['volumes'])
    .filter(isObject)
    .flatMap(({ projected }) => (isObject(projected) ? list(projected['sources']) : []))
    .filter(isObject)
    .flatMap(({ serviceAccountToken: token }) => (isObject(token) ? [text(token['audience'])] : []));

/**
 * NodeRestriction, as 1.36.3 has it: a Node gets tokens that are bound to a Pod of its own, for an audience that a projected volume of
 * the Pod names. Volumes of CSI drivers, which may name more, are not looked at.
 */
export const assertNodeMayAsk = ({ context, name, namespace }: Call, spec: Record<string, unknown>): void => {
  const { api, user } = context;
  if (!user.groups.includes('system:nodes')) return;
  const refuse = (why: string) =>
    forbiddenTo({ group: '', plural: 'serviceaccounts', kind: 'ServiceAccount' }, name, why);
  const ref = isObject(spec['boundObjectRef']) ? spec['boundObjectRef'] : {};
  if (ref['apiVersion'] !== 'v1' || ref['kind'] !== 'Pod' || text(ref['name']) === '')
    throw refuse('node requested token not bound to a pod');
  if (text(ref['uid']) === '') throw refuse('node requested token with a pod binding without a uid');
  const resource = api.find('', 'pods');
  const pod = resource && api.get(resource, namespace, text(ref['name']));
  if (!pod) throw notFound({ group: '', plural: 'pods', kind: '' }, text(ref['name']));
  const why = `the UID in the bound object reference (${text(ref['uid'])}) does not match the UID in record. The object might have been deleted and then recreated`;
  if (ref['uid'] !== pod.metadata.uid) throw refuse(why);
  const podSpec = isObject(pod['spec']) ? pod['spec'] : {};
  if (`system:node:${text(podSpec['nodeName'])}` !== user.name)
    throw refuse('node requested token bound to a pod scheduled on a different node');
  const asked = list(spec['audiences']).map(text);
  if (asked.length > 1) throw refuse('node may only request 0 or 1 audiences');
  const audience = asked[0] ?? '';
  if (!audiencesOf(podSpec).includes(audience))
    throw refuse(
      `audience "${audience}" not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
    );
};
