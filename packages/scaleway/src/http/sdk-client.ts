import { Applesiliconv1alpha1 } from '@scaleway/sdk-applesilicon';
import { createAdvancedClient, withHTTPClient, withProfile, withUserAgentSuffix } from '@scaleway/sdk-client';
import { Iamv1alpha1 } from '@scaleway/sdk-iam';
import type { z } from 'zod';
import type { Settings } from '../create-host-pool.ts';
import { garbled, invalidRequest, ScalewayError } from '../errors/scaleway-error.ts';
import type { CallOptions } from '../host-pool.ts';
import type { OperationName } from '../operations.ts';
import type { OutgoingRequest } from './request.ts';
import { type Call, send, type TransportOptions } from './transport.ts';

/** The two parts of the SDK that we use. */
interface APIs {
  readonly macs: Applesiliconv1alpha1.API;
  readonly iam: Iamv1alpha1.API;
}

/**
 * One call of the SDK over our own transport. A client for each call: the SDK has no other way to bring a call's signal, and what its answer
 * should look like, to where the request is sent.
 */
export const sdkCall = async <T>(
  settings: Settings,
  call: Call,
  options: TransportOptions,
  ask: (apis: APIs) => Promise<T>,
): Promise<T> => {
  const client = createAdvancedClient(
    withProfile({
      accessKey: settings.accessKey,
      secretKey: settings.secretKey,
      defaultProjectId: settings.projectID,
      apiURL: settings.apiURL,
    }),
    withUserAgentSuffix('tartan'),
    withHTTPClient(async (input, init) =>
      toResponse(await send(await outgoingOf(new Request(input, init)), call, options)),
    ),
  );
  try {
    return await ask({ macs: new Applesiliconv1alpha1.API(client), iam: new Iamv1alpha1.API(client) });
  } catch (error) {
    call.signal?.throwIfAborted();
    throw error instanceof ScalewayError ? error : garbled(call.what, 'the SDK could not read it');
  }
};

const outgoingOf = async (request: Request): Promise<OutgoingRequest> => ({
  url: request.url,
  method: request.method,
  headers: request.headers,
  body: request.body === null ? undefined : await request.text(),
});

/** What the checks let through is all that the SDK sees. */
const toResponse = (value: unknown): Response =>
  value === undefined
    ? new Response(null, { status: 204 })
    : new Response(JSON.stringify(value), { headers: { 'Content-Type': 'application/json' } });

/** Asks Scaleway through its SDK. `what` completes "Scaleway did not …". */
type CallSDK = <T>(
  operation: OperationName,
  what: string,
  answer: z.ZodType,
  options: CallOptions,
  ask: (apis: APIs) => Promise<T>,
) => Promise<T>;

export interface CallContext {
  readonly callSDK: CallSDK;
  readonly projectID: string;
  /** From now on no error tells this password. */
  readonly addSecret: (password: string) => void;
}

/** The SDK puts these into the path as they are: a slash in one would ask for something else. */
export const validatePathSegments = (what: string, ...parts: readonly string[]): void => {
  const wrong = parts.find((part) => !/^[\w-]+$/.test(part));
  if (wrong !== undefined) throw invalidRequest(what, `${JSON.stringify(wrong)} is no zone and no id`);
};
