import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { controllerManager, type User } from '../../authentication/user.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { Cause } from '../../errors/field-errors.ts';
import { copy, type KubeObject } from '../../object.ts';
import { createClusterPki } from '../../pki/pki.ts';
import { makeCertificateRequest } from '../../pki/testing/make-certificate-request.ts';
import type { WriteContext } from '../../resource.ts';
import { type FakeApi, fakeApi } from '../../store/testing/fake-api.ts';
import { approvalView, certificateSigningRequestStrategy as strategy } from './certificatesigningrequests.ts';

const bob: User = { name: 'bob', groups: ['g'], extra: { k: ['v'] } };
const lines = (causes: Cause[]): string[] => causes.map(({ field, message }) => `${field}: ${message}`);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const condition = (type: string, status = 'True'): Record<string, string> => ({ type, status });

describe('a certificate signing request', () => {
  let request = '';
  let certificate = '';
  let context: WriteContext;
  const by = (user: User, authorize?: Authorizer): WriteContext => ({ api: fakeApi(authorize), user, dryRun: false });
  const csr = (spec: object = {}, status: object = {}): KubeObject =>
    ({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'x' },
      spec: { request: base64(request), signerName: 'example.com/s', usages: ['client auth'], ...spec },
      status,
    }) as unknown as KubeObject;
  before(async () => {
    request = await makeCertificateRequest({ commonName: 'bob', organizations: ['x'] });
    const api: FakeApi = fakeApi();
    const identity = await createClusterPki(api.clock);
    certificate = base64(await identity.sign(request, ['client auth'], 600));
    context = { api, user: bob, dryRun: false };
  });

  it('records the requesting user and ignores user fields in the body', () => {
    const object = csr(
      { username: 'evil', groups: ['system:masters'], uid: 'u', extra: { a: ['b'] } },
      { certificate: 'x', conditions: [condition('Approved')] },
    );
    strategy.prepareForCreate(object, context);
    const { request: _request, ...spec } = object['spec'] as Record<string, unknown>;
    assert.deepEqual(spec, {
      signerName: 'example.com/s',
      usages: ['client auth'],
      username: 'bob',
      groups: ['g'],
      extra: { k: ['v'] },
    });
    assert.deepEqual(object['status'], {});
  });

  it('has an immutable spec', () => {
    const object = csr({ username: 'other' });
    strategy.prepareForUpdate(object, csr({ username: 'bob' }), context);
    assert.deepEqual(object['spec'], csr({ username: 'bob' })['spec']);
  });

  const signer = (name: string, text: string): [object, string[]] => [
    { signerName: name },
    [`spec.signerName: ${text}`],
  ];
  const label =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  for (const [spec, expected] of [
    [{}, []],
    [{ expirationSeconds: 600 }, []],
    [
      { expirationSeconds: 599 },
      ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
    ],
    [{ usages: [] }, ['spec.usages: Required value']],
    [{ usages: ['client auth', 'client auth'] }, ['spec.usages[1]: Duplicate value: "client auth"']],
    [
      { usages: ['foo'] },
      [
        'spec.usages[0]: Unsupported value: "foo": supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"',
      ],
    ],
    [{ request: 'AAAA' }, ['spec.request: Invalid value: "AAAA": PEM block type must be CERTIFICATE REQUEST']],
    [{ request: undefined }, ['spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST']],
    signer('', 'Required value'),
    signer(
      'foo',
      'Invalid value: "foo": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
    ),
    signer(
      'a.b/c/d',
      'Invalid value: "a.b/c/d": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
    ),
    signer(
      'kubernetes.io/legacy-unknown',
      'Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ),
    signer('X.y/z', `Invalid value: "X.y": validating label "X": ${label}`),
    signer('x/z', 'Invalid value: "x": should be a domain with at least two segments separated by dots'),
  ] as [object, string[]][]) {
    it(`with ${JSON.stringify(spec)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      assert.deepEqual(lines(strategy.validate(csr(spec), undefined, context)), expected);
    });
  }

  it('is refused for the group system:masters', async () => {
    const masters = base64(await makeCertificateRequest({ commonName: 'bob', organizations: ['x', 'system:masters'] }));
    const ask = (signerName: string): Cause[] =>
      strategy.validate(csr({ request: masters, signerName }), undefined, context);
    assert.throws(() => ask('kubernetes.io/kube-apiserver-client'), {
      code: 403,
      message:
        'certificatesigningrequests.certificates.k8s.io "x" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    });
    assert.deepEqual(ask('example.com/s'), []);
  });

  const approve = (
    old: KubeObject,
    status: object,
    as: WriteContext = context,
  ): { next: KubeObject; causes: string[] } => {
    const next = approvalView.write(old, { ...copy(old), status }, as);
    return { next, causes: lines(approvalView.validate(next, old, as)) };
  };
  const sign = (
    old: KubeObject,
    status: object,
    as: WriteContext = context,
  ): { next: KubeObject; causes: string[] } => {
    const next = { ...copy(old), status: copy(status) } as KubeObject;
    strategy.prepareForStatusUpdate(next, old, as);
    return { next, causes: lines(strategy.validateStatus(next, old, as)) };
  };

  it('is approved through its own endpoint, which changes only conditions', () => {
    const { next, causes } = approve(csr(), { certificate, conditions: [condition('Approved')] });
    assert.deepEqual(causes, []);
    assert.deepEqual(next['status'], {
      conditions: [
        {
          ...condition('Approved'),
          lastUpdateTime: '2026-01-01T00:00:00Z',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    });
  });

  it('keeps lastTransitionTime', () => {
    const before = { ...condition('Foo'), lastUpdateTime: 'a', lastTransitionTime: 'b' };
    const { next } = approve(csr({}, { conditions: [before] }), { conditions: [condition('Foo')] });
    assert.deepEqual((next['status'] as { conditions: object[] }).conditions, [
      { ...condition('Foo'), lastUpdateTime: '2026-01-01T00:00:00Z', lastTransitionTime: 'b' },
    ]);
  });

  const path = 'status.conditions';
  for (const [conditions, expected] of [
    [[condition('Approved', 'False')], [`${path}[0].status: Unsupported value: "False": supported values: "True"`]],
    [
      [condition('Foo', 'No')],
      [`${path}[0].status: Unsupported value: "No": supported values: "False", "True", "Unknown"`],
    ],
    [[condition('', '')], [`${path}[0].type: Required value`, `${path}[0].status: Required value`]],
    [
      [condition('Approved'), condition('Denied')],
      [`${path}: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive`],
    ],
    [[condition('Foo'), condition('Foo')], [`${path}[1].type: Duplicate value: "Foo"`]],
  ] as [Record<string, string>[], string[]][]) {
    it(`does not accept the conditions ${JSON.stringify(conditions)}`, () => {
      assert.deepEqual(approve(csr(), { conditions }).causes, expected);
    });
  }

  it('cannot be un-approved, and cannot be approved through its status', () => {
    const approved = csr({}, { conditions: [condition('Approved')] });
    assert.deepEqual(approve(approved, {}).causes, [
      `${path}: Forbidden: updates may not remove a condition of type "Approved"`,
    ]);
    assert.deepEqual(sign(csr(), { conditions: [condition('Approved')] }).causes, [
      `${path}: Forbidden: updates may not add a condition of type "Approved"`,
    ]);
    const failed = csr({}, { conditions: [condition('Failed')] });
    assert.deepEqual(sign(failed, {}).causes, [
      `${path}: Forbidden: updates may not remove a condition of type "Failed"`,
    ]);
  });

  it('keeps its approval when the status changes', () => {
    const approved = csr({}, { conditions: [{ ...condition('Approved'), reason: 'mine' }] });
    const { next, causes } = sign(approved, {
      conditions: [{ ...condition('Approved'), reason: 'other' }, condition('Foo')],
    });
    assert.deepEqual(causes, []);
    const [first, second] = (next['status'] as { conditions: Record<string, string>[] }).conditions;
    assert.equal(first?.['reason'], 'mine');
    assert.equal(second?.['type'], 'Foo');
  });

  it('gets a certificate only once', () => {
    assert.deepEqual(sign(csr(), { certificate }).causes, []);
    const signed = csr({}, { certificate });
    assert.deepEqual(sign(signed, {}).causes, [
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
    assert.deepEqual(sign(csr(), { certificate: 'AAAA' }).causes, [
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ]);
    assert.deepEqual(sign(csr(), { certificate: base64(request) }).causes, [
      'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
    ]);
  });

  it('is approved and signed only by users with rights on its signer', () => {
    const only =
      (allowed: string): Authorizer =>
      ({ verb, resource, name }) => ({
        allowed: resource === 'signers' && `${verb} ${name}` === allowed,
        reason: '',
      });
    const approval = { conditions: [condition('Approved')] };
    for (const allowed of ['approve example.com/s', 'approve example.com/*']) {
      assert.deepEqual(approve(csr(), approval, by(bob, only(allowed))).causes, []);
    }
    assert.throws(() => approve(csr(), approval, by(bob, only('sign example.com/s'))), {
      code: 403,
      message:
        'certificatesigningrequests.certificates.k8s.io "x" is forbidden: user not permitted to approve requests with signerName "example.com/s"',
    });
    assert.deepEqual(sign(csr(), { certificate }, by(bob, only('sign example.com/s'))).causes, []);
    assert.throws(() => sign(csr(), { certificate }, by(bob, only('approve example.com/s'))), /not permitted to sign/);
    assert.deepEqual(sign(csr(), { certificate }, by(controllerManager, only('nothing'))).causes, []);
  });

  for (const [status, expected] of [
    [{}, 'Pending'],
    [{ conditions: [condition('Approved')] }, 'Approved'],
    [{ conditions: [condition('Denied')] }, 'Denied'],
    [{ conditions: [condition('Approved')], certificate: 'x' }, 'Approved,Issued'],
    [{ conditions: [condition('Approved'), condition('Failed')] }, 'Approved,Failed'],
  ] as const) {
    it(`is shown as ${expected}`, () => {
      const cells = strategy.columns.cells(csr({ username: 'bob', expirationSeconds: 3600 }, status), 0);
      assert.deepEqual(cells.slice(2), ['example.com/s', 'bob', '60m', expected]);
    });
  }
});
