import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { secretKeys } from '@tartan/api';
import { type Client, isKubeError, secrets } from '@tartan/kube';
import { type SimulatedGitHub, startGitHub } from '@tartan/sim-github';
import { fleetNamespace as namespace } from './control-plane.ts';
import type { Furniture } from './furniture.ts';

/** What the simulated GitHub has: an organisation with one repository, where an App is installed. */
export const organization = 'acme';
export const repository = `${organization}/app`;
const installationID = 7001;

/** The Secret of the App, for the controllers that ask GitHub. */
export const appSecretName = 'github-app';
const { githubApp } = secretKeys;

/** In which simulated guests and builders find this GitHub; real ones know where theirs is. */
export const whereGitHubIs = 'SIM_GITHUB_URL';

/**
 * A GitHub on this machine, and the Secret of its App in the cluster. What it knew of runners and jobs ends with it: after a new start
 * runners of before are strangers to it, so that they end and are replaced. Its App is the same, since its Secret may be kept.
 */
export const startGitHubFor = async (client: Client, { ensure }: Furniture): Promise<SimulatedGitHub> => {
  const privateKey = (await keptKey(client)) ?? (await newKey());
  const github = await startGitHub({ app: { privateKey } });
  await ensure(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: appSecretName },
    stringData: {
      [githubApp.appID]: String(github.app.id),
      [githubApp.installationID]: String(installationID),
      [githubApp.privateKey]: privateKey,
    },
  });
  return github;
};

const keptKey = async (client: Client): Promise<string | undefined> => {
  try {
    const { data } = await client.get(secrets, { namespace, name: appSecretName });
    const text = data?.[githubApp.privateKey];
    return text === undefined ? undefined : Buffer.from(text, 'base64').toString();
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};

/** Not in one go, which would hold everything else up for as long. */
const newKey = async (): Promise<string> => {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return privateKey;
};
