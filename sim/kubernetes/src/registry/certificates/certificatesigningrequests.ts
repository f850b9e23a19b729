import { X509Certificate } from 'node:crypto';
import { controllerManager } from '../../authentication/user.ts';
import { forbiddenTo } from '../../errors/api-error.ts';
import {
  type Cause,
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../errors/field-errors.ts';
import { copy, equal, isObject, type Json, type KubeObject } from '../../object.ts';
import { firstPemBlock, parseCertificateRequest, type ParsedRequest } from '../../pki/certificate-request.ts';
import { knownUsages } from '../../pki/key-usages.ts';
import { age, column } from '../../printers/columns.ts';
import { plainStrategy, type Strategy, type View, type WriteContext } from '../../resource.ts';
import {
  conditionCauses,
  conditionUpdateCauses,
  hasCondition,
  keepApproval,
  setConditionTimes,
  statusOf,
} from './conditions.ts';

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** The errors of the first dot-separated part that is not a label. */
const partCauses = (field: string, value: string, maximum: number, text: string): Cause[] => {
  const wrong = value.split('.').find((part) => part.length > maximum || !label.test(part));
  if (wrong === undefined) return [];
  const texts = [
    ...(wrong.length > maximum ? [`must be no more than ${maximum} bytes`] : []),
    ...(label.test(wrong) ? [] : [text]),
  ];
  return texts.map((each) => invalid(field, value, `validating label ${JSON.stringify(wrong)}: ${each}`));
};

/** `example.com/signer-name`. */
const signerNameCauses = (field: string, name: string): Cause[] => {
  if (name === '') return [required(field)];
  const [domain = '', path = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  return [
    ...(domain.length > 253 ? [tooLong(field, 253)] : []),
    ...partCauses(field, domain, 63, labelText),
    ...(domain.includes('.')
      ? []
      : [invalid(field, domain, 'should be a domain with at least two segments separated by dots')]),
    ...partCauses(field, path, 253, subdomainText),
    // A domain, a slash, and a path with room for a namespace, a dot and a name.
    ...(name.length > 571 ? [tooLong(field, 571)] : []),
  ];
};

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

/** The spec, with defaults for missing fields. */
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

/** What is wrong with a PEM certificate chain. */
const certificateProblem = (pem: string): string | undefined => {
  const first = firstPemBlock(pem);
  if (!first) return 'must contain at least one CERTIFICATE PEM block';
  for (let next: typeof first | undefined = first; next; next = firstPemBlock(next.rest)) {
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

/** Checks a permission on the signer, by its name or its whole domain. The server's own controllers have it. */
const assertSignerPermission = (verb: 'approve' | 'sign', csr: KubeObject, { api, user }: WriteContext): void => {
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

/** A certificate request must not make a user an administrator. */
const assertNotMasters = (csr: KubeObject): void => {
  const { signerName, request } = specOf(csr);
  if (signerName !== 'kubernetes.io/kube-apiserver-client') return;
  const { organizations }: ParsedRequest = parseCertificateRequest(request);
  if (!organizations.includes('system:masters')) return;
  throw forbiddenTo(subject, csr.metadata.name, `use of ${signerName} signer with system:masters group is not allowed`);
};

const setRequester = (csr: KubeObject, { user }: WriteContext): void => {
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
    setRequester(csr, context);
    csr['status'] = {};
  },
  prepareForUpdate: (csr, old) => {
    csr['spec'] = copy(old['spec']);
  },
  prepareForStatusUpdate: (csr, old, { api }) => {
    setConditions(csr, keepApproval(setConditionTimes(csr, old, api.clock.now()), old));
  },
  validate: (csr, old) => {
    const causes = old ? [] : specCauses(csr);
    if (causes.length === 0 && !old) assertNotMasters(csr);
    return causes;
  },
  validateStatus: (csr, old, context) => {
    const causes = [
      ...conditionCauses(csr),
      ...certificateCauses(csr, old, true).filter(({ reason }) => reason === 'FieldValueInvalid'),
      ...conditionUpdateCauses(csr, old, false),
      ...certificateCauses(csr, old, true).filter(({ reason }) => reason === 'FieldValueForbidden'),
    ];
    if (causes.length === 0 && !equal(statusOf(csr), statusOf(old))) assertSignerPermission('sign', old, context);
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

/** `/approval`: only conditions may change. */
export const approvalView: View = {
  schema: undefined,
  read: (csr) => csr,
  write: (old, edited, { api }) => {
    const next = copy(old);
    const { labels: _l, annotations: _a, ...kept } = next.metadata;
    const { labels, annotations } = copy(edited.metadata);
    next.metadata = { ...kept, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
    setConditions(next, setConditionTimes(edited, old, api.clock.now()));
    return next;
  },
  validate: (csr, old, context) => {
    const causes = [...conditionCauses(csr), ...conditionUpdateCauses(csr, old, true)];
    if (causes.length === 0) assertSignerPermission('approve', old, context);
    return causes;
  },
};
