import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { secretKeys } from '@tartan/api';
import { type Client, ignoreNotFound, secrets } from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import { type JobRecord, type FakeRunnerOptions, type SimulatedGitHub, startGitHub } from '@tartan/sim-github';
import { fleetNamespace as namespace } from './control-plane.ts';
import type { Installer } from './installer.ts';

/** The simulated GitHub has an organisation with one repository and an installed App. */
export const organization = 'acme';
const repository = `${organization}/app`;
const installationID = 7001;

/** The Secret of the App. */
export const appSecretName = 'github-app';
const { githubApp } = secretKeys;

/** Environment variable with the URL of the simulated GitHub. */
export const githubURLVariable = 'SIM_GITHUB_URL';

/**
 * Starts a simulated GitHub, and creates the Secret of its App. Runners and jobs are lost at a restart: the controller replaces the
 * runners. The key of the App is kept in the Secret.
 */
export const startGitHubFor = async (client: Client, { ensure }: Installer): Promise<SimulatedGitHub> => {
  const privateKey = (await existingPrivateKey(client)) ?? (await newPrivateKey());
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

const existingPrivateKey = async (client: Client): Promise<string | undefined> => {
  const secret = await ignoreNotFound(client.get(secrets, { namespace, name: appSecretName }));
  const text = secret?.data?.[githubApp.privateKey];
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString();
};

/** Asynchronous, since it takes long. */
const newPrivateKey = async (): Promise<string> => {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return privateKey;
};

/** `runs-on` of the simulated workflows: the labels of the pool. */
const labels = ['self-hosted', 'macOS', 'ARM64'];

const jobNames = ['build', 'unit-tests', 'ui-tests', 'archive'];

export const queueJob = (github: Pick<SimulatedGitHub, 'queueJob' | 'jobs'>): JobRecord => {
  const count = github.jobs().length;
  return github.queueJob({ repository, labels, name: `${jobNames[count % jobNames.length]}-${count + 1}` });
};

/** A job takes 15 to 25 minutes: about ten seconds at the default speed. */
const minWorkMs = 15 * 60_000;
const workSpreadMs = 10 * 60_000;

export const simulatedWork =
  (pace: number, clock: Clock = systemClock): FakeRunnerOptions['work'] =>
  async (_job, signal) => {
    await sleep(clock, (minWorkMs + Math.random() * workSpreadMs) * pace, signal);
    return 'success';
  };
