import type { Step } from './step.ts';

interface Intent {
  readonly user: string;
  readonly joinVersion: string;
}

/** The kubeconfig with which the agent joins. The certificate that it gets for it is the agent's own, and lies beside it. */
export const joinCredentials: Step<Intent> = {
  name: 'join-credentials',
  title: 'hand over the join credentials',
  deadline: 30_000,
  intent: ({ user, agent }) => ({ user, joinVersion: agent.joinVersion }),
  environment: ({ user, joinVersion }) => ({ AGENT_USER: user, JOIN_VERSION: joinVersion }),
  // Blank credentials are none.
  payload: (_intent, { joinKubeconfig }) => (joinKubeconfig?.trim() ? joinKubeconfig : undefined),
};
