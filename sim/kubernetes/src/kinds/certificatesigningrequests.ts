import { X509Certificate } from 'node:crypto';
import { type ParsedRequest, parseCertificateRequest } from '../auth/certificate-request.ts';
import { firstBlock } from '../auth/pem.ts';
import { knownUsages } from '../auth/usages.ts';
import { controllerManager } from '../auth/user.ts';
import { copy, equal, isObject, type Json, type KubeObject } from '../object.ts';
import type { Strategy, View, WriteContext } from '../resource.ts';
import { forbiddenTo } from '../status/api-error.ts';
import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '../status/cause.ts';
import { age, column } from '../table/columns.ts';
import {
  conditionCauses,
  conditionUpdateCauses,
  hasCondition,
  keepApproval,
  stampConditions,
  statusOf,
} from './certificate-conditions.ts';
import { signerNameCauses } from './signer-name.ts';
import { plainStrategy } from './strategy.ts';

const subject = {
  group: 'certificates.k8s.io',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
};

export interface CertificateSigningRequestSpec {
  /** PEM. */
  request: string;
  signerName: string;
  usages: string[];
  expirationSeconds: number | undefined;
  username: string;
  uid: string;
  groups: string[];
  extra: Record<string, string[]>;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : []);

/** The spec, whatever a client may have left out of it. */
export const specOf = (csr: KubeObject): CertificateSigningRequestSpec => {
  const spec = isObject(csr['spec']) ? csr['spec'] : {};
  const seconds = spec['expirationSeconds'];
  const extra = isObject(spec['extra']) ? spec['extra'] : {};
  return {
    request: Buffer.from(text(spec['request']), 'base64').toString('latin1'),
    signerName: text(spec['signerName']),
    usages: strings(spec['usages']),
    expirationSeconds: typeof seconds === 'number' ? seconds : undefined,
    username: text(spec['username']),
    uid: text(spec['uid']),
    groups: strings(spec['groups']),
    extra: Object.fromEntries(Object.entries(extra).map(([key, list]) => [key, strings(list)])),
  };
};

const requestCauses = (csr: KubeObject): Cause[] => {
  const raw = isObject(csr['spec']) ? csr['spec']['request'] : undefined;
  try {
    parseCertificateRequest(specOf(csr).request);
    return [];
  } catch (error) {
    return [invalid('spec.request', (raw ?? null) as Json, error instanceof Error ? error.message : '')];
  }
};

const usageCauses = (usages: readonly string[]): Cause[] => [
  ...(usages.length === 0 ? [required('spec.usages')] : []),
  ...usages.flatMap((usage, index) =>
    knownUsages.includes(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, knownUsages)],
  ),
  ...usages.flatMap((usage, index) =>
    usages.indexOf(usage) < index ? [duplicate(`spec.usages[${index}]`, usage)] : [],
  ),
];

const legacySigner = 'kubernetes.io/legacy-unknown';

const specCauses = (csr: KubeObject): Cause[] => {
  const { usages, signerName, expirationSeconds } = specOf(csr);
  const field = 'spec.signerName';
  return [
    ...requestCauses(csr),
    ...usageCauses(usages),
    ...(signerName === legacySigner
      ? [invalid(field, signerName, 'the legacy signerName is not allowed via this API version')]
      : signerNameCauses(field, signerName)),
    ...(expirationSeconds !== undefined && expirationSeconds < 600
      ? [
          invalid(
            'spec.expirationSeconds',
            expirationSeconds,
            'may not specify a duration less than 600 seconds (10 minutes)',
          ),
        ]
      : []),
  ];
};

const isCertificate = (der: Buffer): boolean => {
  try {
    return new X509Certificate(der).raw.length > 0;
  } catch {
    return false;
  }
};

/** What is wrong with a chain of certificates in PEM. */
const certificateProblem = (pem: string): string | undefined => {
  const first = firstBlock(pem);
  if (!first) return 'must contain at least one CERTIFICATE PEM block';
  for (let next: typeof first | undefined = first; next; next = firstBlock(next.rest)) {
    const { type, bytes } = next.block;
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
  }
  return undefined;
};

const certificateOf = (csr: KubeObject): string => text(statusOf(csr)['certificate']);

const certificateCauses = (csr: KubeObject, old: KubeObject, maySet: boolean): Cause[] => {
  const [certificate, before] = [certificateOf(csr), certificateOf(old)];
  if (certificate === before) return [];
  const field = 'status.certificate';
  const problem = certificate && certificateProblem(Buffer.from(certificate, 'base64').toString('latin1'));
  return [
    ...(problem ? [invalid(field, '<certificate data>', problem)] : []),
    ...(maySet ? [] : [forbidden(field, 'updates may not set certificate content')]),
    ...(maySet && before !== '' ? [forbidden(field, 'updates may not modify existing certificate content')] : []),
  ];
};

/** A permission on the signer, by its name or by its whole domain. The server's own controllers have it. */
const assertMay = (verb: 'approve' | 'sign', csr: KubeObject, { api, user }: WriteContext): void => {
  const { signerName } = specOf(csr);
  const may = (name: string): boolean =>
    api.authorize({
      user,
      verb,
      group: subject.group,
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
      fieldSelector: '',
      labelSelector: '',
    }).allowed;
  if (user.name === controllerManager.name || may(signerName) || may(`${signerName.split('/')[0]}/*`)) return;
  throw forbiddenTo(
    subject,
    csr.metadata.name,
    `user not permitted to ${verb} requests with signerName "${signerName}"`,
  );
};

/** Nobody becomes an administrator by way of a certificate request. */
const assertNoMasters = (csr: KubeObject): void => {
  const { signerName, request } = specOf(csr);
  if (signerName !== 'kubernetes.io/kube-apiserver-client') return;
  const { organizations }: ParsedRequest = parseCertificateRequest(request);
  if (!organizations.includes('system:masters')) return;
  throw forbiddenTo(subject, csr.metadata.name, `use of ${signerName} signer with system:masters group is not allowed`);
};

const stampRequester = (csr: KubeObject, { user }: WriteContext): void => {
  const { username: _n, uid: _u, groups: _g, extra: _e, ...asked } = isObject(csr['spec']) ? csr['spec'] : {};
  csr['spec'] = {
    ...asked,
    username: user.name,
    ...(user.uid ? { uid: user.uid } : {}),
    ...(user.groups.length > 0 ? { groups: [...user.groups] } : {}),
    ...(user.extra && Object.keys(user.extra).length > 0 ? { extra: copy(user.extra) } : {}),
  };
};

const conditionCell = (csr: KubeObject): string => {
  const decided = hasCondition(csr, 'Denied') ? 'Denied' : hasCondition(csr, 'Approved') ? 'Approved' : 'Pending';
  return `${decided}${hasCondition(csr, 'Failed') ? ',Failed' : ''}${certificateOf(csr) === '' ? '' : ',Issued'}`;
};

const setConditions = (csr: KubeObject, conditions: unknown[]): void => {
  const { conditions: _old, ...rest } = statusOf(csr);
  csr['status'] = { ...(conditions.length > 0 ? { conditions } : {}), ...rest };
};

export const certificateSigningRequestStrategy: Strategy = {
  ...plainStrategy,
  hasStatus: true,
  statusMayChangeMetadata: true,
  prepareForCreate: (csr, context) => {
    stampRequester(csr, context);
    csr['status'] = {};
  },
  prepareForUpdate: (csr, old) => {
    csr['spec'] = copy(old['spec']);
  },
  prepareForStatusUpdate: (csr, old, { api }) => {
    setConditions(csr, keepApproval(stampConditions(csr, old, api.clock.now()), old));
  },
  validate: (csr, old) => {
    const causes = old ? [] : specCauses(csr);
    if (causes.length === 0 && !old) assertNoMasters(csr);
    return causes;
  },
  validateStatus: (csr, old, context) => {
    const causes = [
      ...conditionCauses(csr),
      ...certificateCauses(csr, old, true).filter(({ reason }) => reason === 'FieldValueInvalid'),
      ...conditionUpdateCauses(csr, old, false),
      ...certificateCauses(csr, old, true).filter(({ reason }) => reason === 'FieldValueForbidden'),
    ];
    if (causes.length === 0 && !equal(statusOf(csr), statusOf(old))) assertMay('sign', old, context);
    return causes;
  },
  selectableFields: (csr) => ({ 'spec.signerName': specOf(csr).signerName }),
  columns: {
    definitions: [
      column('Name', 'string', 0, 'name'),
      column('Age'),
      column('SignerName'),
      column('Requestor'),
      column('RequestedDuration'),
      column('Condition'),
    ],
    cells: (csr, now) => {
      const { signerName, username, expirationSeconds } = specOf(csr);
      const epoch = new Date(0).toISOString();
      const duration = expirationSeconds === undefined ? '<none>' : age(epoch, expirationSeconds * 1000);
      const created = age(csr.metadata.creationTimestamp, now);
      return [csr.metadata.name, created, signerName || '<none>', username, duration, conditionCell(csr)];
    },
  },
};

/** `/approval`: the conditions may change, the rest of spec and status stays. */
export const approvalView: View = {
  schema: undefined,
  read: (csr) => csr,
  write: (old, edited, { api }) => {
    const next = copy(old);
    const { labels: _l, annotations: _a, ...kept } = next.metadata;
    const { labels, annotations } = copy(edited.metadata);
    next.metadata = { ...kept, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
    setConditions(next, stampConditions(edited, old, api.clock.now()));
    return next;
  },
  validate: (csr, old, context) => {
    const causes = [...conditionCauses(csr), ...conditionUpdateCauses(csr, old, true)];
    if (causes.length === 0) assertMay('approve', old, context);
    return causes;
  },
};
