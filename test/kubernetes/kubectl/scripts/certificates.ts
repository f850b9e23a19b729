import type { KubectlScript } from '../script.ts';

// For CN=jane. The private key was not kept.
const request =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISk1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJN' +
  'R0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQklZNmtRRnlua3BlemkyZ0U0MllNZkl3aXJSekwzQlZ1NE0yKy9wK0pQYWtO' +
  'RUpQVHFITUgvTkZXaE91CkJGTDRGTjJwSmttOFpTZkhWbzFsc0xxamllS2dBREFLQmdncWhrak9QUVFEQWdOSUFEQkZBaUVBa3M1' +
  'cG5UNXQKV1BxOXZ1dlNleEczeEcvelZ2a0E4UEFUTWFmaFdSUlFOaFFDSUgyeElYYzEzb2J2MXFXKytUamJMZE9hdkpNdwpmbFF2' +
  'UTlORzY1VmhpQWRhCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

const signingRequest = (name: string, signer: string, usages: string, encoded: string): string => `
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: ${name}}
spec:
  request: ${encoded}
  signerName: ${signer}
  expirationSeconds: 3600
  usages: ${usages}
`;

const client = 'kubernetes.io/kube-apiserver-client';
const clientUsages = '[client auth, digital signature]';

export const certificates: KubectlScript = {
  title: 'certificates and identity',
  namespace: 'certificates',
  steps: [
    { run: 'create -f -', input: signingRequest('jane', client, clientUsages, request) },
    'get csr',
    'get csr jane -o yaml',
    'describe csr jane',
    'certificate approve jane',
    'certificate approve jane',
    "wait csr/jane --for=jsonpath='{.status.certificate}' --timeout=300s",
    'wait csr/jane --for=condition=Approved --timeout=300s',
    'get csr',
    'certificate deny jane',
    { run: 'create -f -', input: signingRequest('joe', client, clientUsages, request) },
    'certificate deny joe',
    'get csr',
    "get csr joe -o jsonpath='{.status}'",
    'certificate approve nobody',
    { run: 'create -f -', input: signingRequest('bad', client, '[nonsense]', request) },
    { run: 'create -f -', input: signingRequest('bad', 'no-domain', clientUsages, request) },
    { run: 'create -f -', input: signingRequest('bad', client, clientUsages, 'bm90IGEgcmVxdWVzdA==') },
    `patch csr joe --type=merge -p '{"spec": {"expirationSeconds": 7200}}'`,
    { run: 'create -f -', input: signingRequest('served', 'kubernetes.io/kubelet-serving', '[server auth]', request) },
    'get csr --field-selector spec.signerName=kubernetes.io/kubelet-serving',
    'delete csr jane joe served',

    'auth whoami',
    'auth whoami -o yaml',
    'auth whoami --as=jane --as-group=developers',
    'create serviceaccount robot',
    { run: 'create token robot', capture: 'TOKEN' },
    'auth whoami --kubeconfig=nobody.kubeconfig --token=$TOKEN',
    'get cm --kubeconfig=nobody.kubeconfig --token=wrong',
    'get --raw /version --kubeconfig=nobody.kubeconfig --token=wrong',
    'auth can-i get pods',
    'auth can-i delete nodes --all-namespaces',
  ],
};
