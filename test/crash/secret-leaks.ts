import { secretKeys } from '@tartan/api';
import type { TransportRequest } from '@tartan/kube';

/** Collects every secret that is written to a Secret, and searches for them everywhere else. */
export interface SecretLeakDetector {
  /** Names of secrets that a request writes to a wrong place. */
  leaksIn(request: TransportRequest): readonly string[];
  leaksInText(text: string): readonly string[];
}

/** The secret parts of a Secret. A private key is identified by one of its lines, as it has many formats. */
const kept: Readonly<Record<string, (value: string) => string>> = {
  'token-secret': (value) => value,
  [secretKeys.machine.sudoPassword]: (value) => value,
  [secretKeys.fleetSSH.privateKey]: (value) => value.split('\n')[2] ?? value,
};

const isSecret = /\/secrets(\/|$|\?)/;

export const createSecretLeakDetector = (scalewayKey: string): SecretLeakDetector => {
  const secrets = new Map([[scalewayKey, 'the key of Scaleway']]);
  const learn = (body: string): void => {
    const { data = {}, stringData = {} } = JSON.parse(body) as Record<string, Record<string, string | null>>;
    const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value ?? '', 'base64').toString()]);
    for (const [key = '', value] of [...decoded, ...Object.entries(stringData)]) {
      const text = kept[key]?.(value ?? '');
      if (text) secrets.set(text, key).set(Buffer.from(text).toString('base64'), key);
    }
  };
  const leaksInText = (text: string): string[] =>
    [...secrets].flatMap(([secret, name]) => (text.includes(secret) ? [name] : []));
  return {
    leaksIn: ({ method, path, body = '' }) => {
      if (method === 'GET') return leaksInText(path);
      if (!isSecret.test(path)) return [...leaksInText(path), ...leaksInText(body)];
      if (body !== '' && method !== 'DELETE') learn(body);
      return [];
    },
    leaksInText,
  };
};
