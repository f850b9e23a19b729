import type { Step } from './step.ts';

interface Intent {
  readonly user: string;
  readonly joinVersion: string;
}

/** The kubeconfig with which the agent joins, and which the agent then replaces by one with a certificate of its own. */
export const joinCredentials: Step<Intent> = {
  name: 'join-credentials',
  title: 'hand over the join credentials',
  deadline: 30_000,
  intent: ({ user, agent }) => ({ user, joinVersion: agent.joinVersion }),
  environment: ({ user, joinVersion }) => ({ AGENT_USER: user, JOIN_VERSION: joinVersion }),
  // Blank credentials are none.
  payload: (_intent, { joinKubeconfig }) => (joinKubeconfig?.trim() ? joinKubeconfig : undefined),
};
