import { timestamp } from '@tartan/kube/clock';
import { assertNodeMayRequestToken } from '../admission/node-restriction.ts';
import { badRequest, conflict, invalidObject, notFound } from '../errors/api-error.ts';
import { type Cause, invalid } from '../errors/field-errors.ts';
import { jsonResponse } from '../http-messages.ts';
import { copy, isObject, type KubeObject } from '../object.ts';
import type { ClusterPki, ServiceAccountClaims } from '../pki/pki.ts';
import type { Action, ActionRequest } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';

const subject = { group: 'authentication.k8s.io', plural: 'TokenRequest', kind: 'TokenRequest' };
const defaultSeconds = 3600;

const existing = (api: LoopbackClient, plural: string, namespace: string, name: string): KubeObject => {
  const resource = api.find('', plural);
  const object = resource && api.get(resource, namespace, name);
  if (!object) throw notFound({ group: '', plural, kind: '' }, name);
  return object;
};

const referenceTo = ({ metadata: { name, uid } }: KubeObject): { name: string; uid: string } => ({ name, uid });

/** The node of a Pod; only the name if there is no such Node. */
const nodeOf = (api: LoopbackClient, pod: KubeObject): Pick<ServiceAccountClaims, 'node'> => {
  const nodeName = isObject(pod['spec']) ? pod['spec']['nodeName'] : undefined;
  if (typeof nodeName !== 'string' || nodeName === '') return {};
  const nodes = api.find('', 'nodes');
  const node = nodes && api.get(nodes, '', nodeName);
  return { node: { name: nodeName, uid: node?.metadata.uid ?? '' } };
};

type Bound = Pick<ServiceAccountClaims, 'pod' | 'node' | 'secret'>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const bind = (api: LoopbackClient, ref: Record<string, unknown>, { name, namespace }: ActionRequest): Bound => {
  const [apiVersion, kind, refName, uid] = [ref['apiVersion'], ref['kind'], ref['name'], ref['uid']].map(text);
  const plural = { Pod: 'pods', Node: 'nodes', Secret: 'secrets' }[kind ?? ''];
  const [group, version] = apiVersion?.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  if (!plural || group !== '') {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const object = existing(api, plural, kind === 'Node' ? '' : namespace, refName ?? '');
  if (kind === 'Pod' && (!isObject(object['spec']) || object['spec']['serviceAccountName'] !== name)) {
    throw badRequest(
      `cannot bind token for serviceaccount "${name}" to pod running with different serviceaccount name.`,
    );
  }
  if (uid && uid !== object.metadata.uid) {
    throw conflict(
      { group: '', plural: kind ?? '', kind: kind ?? '' },
      object.metadata.name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (kind === 'Pod') return { pod: referenceTo(object), ...nodeOf(api, object) };
  return kind === 'Node' ? { node: referenceTo(object) } : { secret: referenceTo(object) };
};

const expirationCauses = (seconds: number): Cause[] => {
  const field = 'spec.expirationSeconds';
  if (seconds < 600) return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds > 2 ** 32) return [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
  return [];
};

const assertNames = (metadata: Record<string, unknown>, { name, namespace }: ActionRequest): void => {
  const expected = { name, namespace };
  for (const field of ['name', 'namespace'] as const) {
    const given = text(metadata[field]);
    if (given === '' || given === expected[field]) continue;
    throw invalidObject(subject, name, [
      invalid(`metadata.${field}`, given, `must match the service account ${field} if specified`),
    ]);
  }
};

const assertUid = (account: KubeObject, uid: string): void => {
  if (uid === '' || uid === account.metadata.uid) return;
  const why = `the UID in the token request (${uid}) does not match the UID of the service account (${account.metadata.uid})`;
  throw conflict(subject, account.metadata.name, why);
};

/** `serviceaccounts/token`: a token for that account, optionally bound to another object. */
export const tokenRequest =
  (identity: ClusterPki): Action =>
  async (call) => {
    const { api } = call.context;
    const body: Record<string, unknown> = copy(call.body ?? {});
    const spec = isObject(body['spec']) ? body['spec'] : {};
    const metadata = isObject(body['metadata']) ? body['metadata'] : {};
    assertNames(metadata, call);
    const account = existing(api, 'serviceaccounts', call.namespace, call.name);
    assertUid(account, text(metadata['uid']));
    assertNodeMayRequestToken(call, spec);
    const expirationSeconds =
      typeof spec['expirationSeconds'] === 'number' ? spec['expirationSeconds'] : defaultSeconds;
    const causes = expirationCauses(expirationSeconds);
    if (causes.length > 0) throw invalidObject(subject, '', causes);
    const asked = Array.isArray(spec['audiences']) ? spec['audiences'].map(text) : [];
    const audiences = asked.length > 0 ? asked : [identity.issuer];
    const ref = isObject(spec['boundObjectRef']) ? spec['boundObjectRef'] : undefined;
    const { token, expirationTimestamp } = await identity.signToken({
      namespace: call.namespace,
      serviceAccount: referenceTo(account),
      ...(ref ? bind(api, ref, call) : {}),
      audiences,
      expirationSeconds,
    });
    return jsonResponse(201, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {
        ...referenceTo(account),
        namespace: call.namespace,
        creationTimestamp: timestamp(api.clock.now()),
      },
      spec: { audiences, expirationSeconds, boundObjectRef: ref ?? null },
      status: { token, expirationTimestamp },
    });
  };
