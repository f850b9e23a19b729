import type { ITokenRequestSpec } from 'kubernetes-models/authentication.k8s.io/v1/TokenRequestSpec';
import type { IScale } from 'kubernetes-models/autoscaling/v1/Scale';
import type { ICertificateSigningRequest } from 'kubernetes-models/certificates.k8s.io/v1/CertificateSigningRequest';
import type { KubeObject, Live, ObjectName } from '../objects/object.ts';
import type { Resource } from '../objects/resource.ts';
import type { CallOptions, DeleteOptions, WriteOptions } from './client.ts';
import type { ExecOptions, ExecOutcome } from './exec.ts';

export interface Token {
  token: string;
  expirationTimestamp: string;
}

export interface LogOptions extends CallOptions {
  container?: string;
  /** Goes on until the container ends, or the signal fires. */
  follow?: boolean;
  /** Of the container's last run before this one. */
  previous?: boolean;
  timestamps?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  sinceTime?: string;
  limitBytes?: number;
}

export interface Verdict {
  type: 'Approved' | 'Denied';
  /** One word, in CamelCase. */
  reason: string;
  message: string;
}

/** What objects offer besides themselves. Rejects with KubeError and nothing else, and retries nothing, as the client does. */
export interface Subresources {
  getScale<T extends KubeObject>(resource: Resource<T>, name: ObjectName, options?: CallOptions): Promise<Live<IScale>>;
  /** Compare-and-swap on the scale's resource version, which is that of the object behind it. */
  updateScale<T extends KubeObject>(
    resource: Resource<T>,
    scale: Live<IScale>,
    options?: WriteOptions,
  ): Promise<Live<IScale>>;
  /** Puts a Pod on a Node, once and for all. `conflict` when it is on one already. */
  bindPod(pod: ObjectName & { uid?: string }, node: string, options?: CallOptions): Promise<void>;
  /** Deletes a Pod unless a disruption budget says no: `tooManyRequests`, with the delay that the server asks for. */
  evictPod(pod: ObjectName, options?: DeleteOptions): Promise<void>;
  createToken(serviceAccount: ObjectName, spec: Partial<ITokenRequestSpec>, options?: CallOptions): Promise<Token>;
  /** Adds the verdict to the request as it was read. Answers it unchanged if it has that verdict already. */
  approveCertificate(
    request: Live<ICertificateSigningRequest>,
    verdict: Verdict,
    options?: CallOptions,
  ): Promise<Live<ICertificateSigningRequest>>;
  /** The log as it comes. The deadline is for its beginning. */
  podLogs(pod: ObjectName, options?: LogOptions): AsyncIterable<Uint8Array>;
  /** Runs a command in a container, over WebSocket (needs Kubernetes 1.30 or later). */
  execInPod(pod: ObjectName, options: ExecOptions): Promise<ExecOutcome>;
}
