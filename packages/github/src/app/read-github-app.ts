import { createPrivateKey } from 'node:crypto';
import { secretKeys } from '@tartan/api';
import { createSecret } from '@tartan/kube';
import type { GitHubApp } from '../runner-service.ts';

const keys = secretKeys.githubApp;

/**
 * A GitHub App from the `data` of a Secret, where values are base64. Reports mistakes here, before GitHub is called: its errors do not
 * tell them apart. No message quotes a value: if two keys are swapped, it would be the private key.
 */
export const readGitHubApp = (
  data: Readonly<Record<string, string>> | undefined,
): GitHubApp | { readonly problem: string } => {
  const read = (key: string): string =>
    Buffer.from(data?.[key] ?? '', 'base64')
      .toString('utf8')
      .trim();
  const appID = read(keys.appID);
  const installationID = read(keys.installationID);
  const privateKey = read(keys.privateKey);
  const missing = [
    [keys.appID, appID],
    [keys.installationID, installationID],
    [keys.privateKey, privateKey],
  ].flatMap(([key, value]) => (value === '' ? [key] : []));
  const wrong = [
    missing.length > 0 && `it has no ${missing.join(', no ')}`,
    // GitHub recommends the client ID; most users have the number.
    appID !== '' &&
      !/^(?:[1-9]\d*|Iv[\w.]+)$/.test(appID) &&
      `${keys.appID} is neither the number nor the client ID of an App`,
    installationID !== '' && !/^[1-9]\d*$/.test(installationID) && `${keys.installationID} is not a number`,
    privateKey !== '' && keyViolation(privateKey),
  ].filter((text) => typeof text === 'string');
  if (wrong.length === 0) return { appID, installationID, privateKey: createSecret(privateKey) };
  return {
    problem:
      `The Secret of the GitHub App cannot be used: ${wrong.join('; ')}. ` +
      `Put ${keys.appID} and ${keys.privateKey} there from the settings of the App, and ${keys.installationID} from the address of its installation.`,
  };
};

/** GitHub issues PKCS#1; some tools convert it to PKCS#8. Both work. */
const keyViolation = (pem: string): string | undefined => {
  if (!pem.startsWith('-----BEGIN ')) return `${keys.privateKey} is no PEM file (is it in base64 twice?)`;
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa' ? undefined : `${keys.privateKey} is no RSA key`;
  } catch {
    // The error does not help: a truncated file, a public key, one with a passphrase.
    return `${keys.privateKey} is no private key that can be read without a passphrase`;
  }
};
