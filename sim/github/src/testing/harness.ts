import { createSign, generateKeyPairSync } from 'node:crypto';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createGitHub } from '../create-github.ts';
import type { EmbeddedGitHub, GitHubOptions } from '../github.ts';

/** One key for all tests: generating one takes longer than a test. */
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const privateKeyPEM = privateKey.export({ type: 'pkcs8', format: 'pem' });

/** A JSON web token of an App. */
export const createJwt = (claims: object, key = privateKeyPEM, head: object = { alg: 'RS256', typ: 'JWT' }): string => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode(head)}.${encode(claims)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`;
};

interface Asked {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export interface GitHubHarness {
  readonly github: EmbeddedGitHub;
  readonly clock: ManualClock;
  /** `POST /orgs/acme/…`, with the token of the first installation by default. `''`: with none. */
  ask(call: string, body?: unknown, token?: string, headers?: Record<string, string>): Promise<Asked>;
  /** For an App. */
  jwt(): string;
  newToken(permissions?: object): Promise<string>;
  /** Registers a runner and returns its JIT configuration. */
  jit(name: string, labels?: readonly string[], owner?: string): Promise<{ id: number; config: string }>;
  /** Connects, and asks for work. */
  connect(config: string): Promise<string>;
  poll(session: string): Promise<Asked>;
  report(session: string, job: number, verb: 'started' | 'renew' | 'finished'): Promise<number>;
}

/** GitHub on virtual time. */
export const createHarness = async (options: Omit<GitHubOptions, 'port'> = {}): Promise<GitHubHarness> => {
  const clock = manualClock();
  let seed = 1;
  const random = (): number => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const github = createGitHub({ clock, random, app: { privateKey: privateKeyPEM }, ...options });
  const jwt = (): string => {
    const now = Math.floor(clock.now() / 1000);
    return createJwt({ iss: github.app.clientID, iat: now - 60, exp: now + 540 });
  };
  const fetched = async (call: string, body: unknown, token: string, headers: object): Promise<Asked> => {
    const [method = 'GET', path = '/'] = call.split(' ');
    const response = await github.fetch(`https://github.invalid${path}`, {
      method,
      headers: { ...headers, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJSON = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
    return {
      status: response.status,
      body: isJSON ? (JSON.parse(text) as Record<string, unknown>) : {},
      headers: response.headers,
    };
  };
  const newToken = async (permissions?: object): Promise<string> => {
    const made = await fetched('POST /app/installations/7001/access_tokens', { permissions }, jwt(), {});
    return made.body['token'] as string;
  };
  const own = await newToken();
  const ask: GitHubHarness['ask'] = (call, body, token = own, headers = {}) => fetched(call, body, token, headers);
  return {
    github,
    clock,
    ask,
    jwt,
    newToken,
    jit: async (name, labels = ['macos'], owner = 'orgs/acme') => {
      const wanted = { name, runner_group_id: 1, labels };
      const { body } = await ask(`POST /${owner}/actions/runners/generate-jitconfig`, wanted);
      return { id: (body['runner'] as { id: number }).id, config: body['encoded_jit_config'] as string };
    },
    connect: async (config) => {
      const { body } = await ask('POST /_actions/sessions', { jit_config: config }, '');
      return body['session'] as string;
    },
    poll: (session) => ask(`POST /_actions/sessions/${session}/poll`, {}, ''),
    report: async (session, job, verb) =>
      (await ask(`POST /_actions/sessions/${session}/jobs/${job}/${verb}`, {}, '')).status,
  };
};
