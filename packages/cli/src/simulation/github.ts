import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { secretKeys } from '@tartan/api';
import { type Client, isKubeError, secrets } from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import { type JobRecord, type FakeRunnerOptions, type SimulatedGitHub, startGitHub } from '@tartan/sim-github';
import { fleetNamespace as namespace } from './control-plane.ts';
import type { Installer } from './installer.ts';

/** What the simulated GitHub has: an organisation with one repository, where an App is installed. */
export const organization = 'acme';
const repository = `${organization}/app`;
const installationID = 7001;

/** The Secret of the App, for the controllers that ask GitHub. */
export const appSecretName = 'github-app';
const { githubApp } = secretKeys;

/** In which simulated guests and builders find this GitHub; real ones know where theirs is. */
export const githubURLVariable = 'SIM_GITHUB_URL';

/**
 * A GitHub on this machine, and the Secret of its App in the cluster. What it knew of runners and jobs ends with it: after a new start
 * runners of before are strangers to it, so that they end and are replaced. Its App is the same, since its Secret may be kept.
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
const newPrivateKey = async (): Promise<string> => {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return privateKey;
};

/** What workflows of the simulation ask for: each label of the pool's runners. */
const labels = ['self-hosted', 'macOS', 'ARM64'];

const jobNames = ['build', 'unit-tests', 'ui-tests', 'archive'];

/** One job, as if somebody had pushed something. */
export const queueJob = (github: Pick<SimulatedGitHub, 'queueJob' | 'jobs'>): JobRecord => {
  const count = github.jobs().length;
  return github.queueJob({ repository, labels, name: `${jobNames[count % jobNames.length]}-${count + 1}` });
};

/** As people push: every 25 minutes, which is four times a minute at the usual speed; never so often that they pile up. */
const jobEveryMs = 25 * 60_000;
const intervalBounds = { least: 2_000, most: 120_000 };

export const jobIntervalMs = (pace: number): number =>
  Math.min(intervalBounds.most, Math.max(intervalBounds.least, Math.round(jobEveryMs * pace)));

/** Queues a job now and then until the signal fires. */
export const keepQueueing = async (
  github: Pick<SimulatedGitHub, 'queueJob' | 'jobs'>,
  pace: number,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> => {
  while (!signal.aborted) {
    queueJob(github);
    await sleep(clock, jobIntervalMs(pace), signal);
  }
};

/** A job takes 15 to 25 minutes: about ten seconds at the usual speed. All of them go well. */
const minWorkMs = 15 * 60_000;
const workSpreadMs = 10 * 60_000;

export const simulatedWork =
  (pace: number, clock: Clock = systemClock): FakeRunnerOptions['work'] =>
  async (_job, signal) => {
    await sleep(clock, (minWorkMs + Math.random() * workSpreadMs) * pace, signal);
    return 'success';
  };
