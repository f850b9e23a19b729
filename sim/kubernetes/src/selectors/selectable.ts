import { badRequest } from '../status/api-error.ts';
import type { FieldRequirement } from './fields.ts';

/** Built-in kinds that name their fields themselves; the other built-in kinds share one rule, with a text of its own. */
const particular = new Set([
  'v1/Pod',
  'v1/Node',
  'v1/Namespace',
  'v1/Event',
  'v1/Secret',
  'v1/Service',
  'v1/ReplicationController',
  'events.k8s.io/v1/Event',
  'certificates.k8s.io/v1/CertificateSigningRequest',
]);

/** Of those, the ones without a namespace do not know that field; the shared rule knows it for all. */
const withoutNamespace = new Set(['v1/Node', 'v1/Namespace', 'certificates.k8s.io/v1/CertificateSigningRequest']);

const builtinGroups = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
]);

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** Refuses a selector that names a field which this kind cannot be selected by. */
export const assertSelectable = (
  requirements: readonly FieldRequirement[],
  known: readonly string[] | Readonly<Record<string, string>>,
  apiVersion: string,
  kind: string,
): void => {
  const key = `${apiVersion}/${kind}`;
  const fields = new Set(Array.isArray(known) ? known : Object.keys(known));
  if (withoutNamespace.has(key)) fields.delete('metadata.namespace');
  const unknown = requirements.find(({ field }) => !fields.has(field));
  if (unknown === undefined) return;
  if (particular.has(key) || !builtinGroups.has(groupOf(apiVersion))) {
    throw badRequest(`field label not supported: ${unknown.field}`);
  }
  throw badRequest(
    `${JSON.stringify(unknown.field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
};
