import { type ExternalControlPlane, secretNames } from '@tartan/api';
import { again, type EventRecorder, type Live, type Logger, type Outcome } from '@tartan/kube';
import { letGo, type Writer, writeKubeconfig } from './act.ts';
import { decide } from './decide.ts';
import { type Observer, observe } from './observe.ts';
import { type Finding, leftToOthers, minted } from './status.ts';

export interface Keeper extends Omit<Observer, 'client'>, Omit<Writer, 'client'> {
  client: Observer['client'] & Writer['client'];
  events: Pick<EventRecorder, 'event'>;
  log: Logger;
}

/** What to say, and when to look again. Without a finding the Secret was in motion, and nothing is said of it. */
export interface Step {
  finding?: Finding;
  outcome: Outcome;
}

/** After a write, or when somebody else wrote: look at what is there now. */
const secondLookMs = 1000;

/** What went wrong, without what could be a token in what was sent or answered. It has no cause, since that could hold one. */
class KubeconfigError extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'KubeconfigError';
  }
}

/** One look at the kubeconfig of a control plane that may be worked on, and what is to be done about it. */
export const lookAfter = async (
  keeper: Keeper,
  controlPlane: Live<ExternalControlPlane>,
  cluster: string,
  signal: AbortSignal,
): Promise<Step> => {
  const { redactor, lookAgainMs, log, events } = keeper;
  const { snapshot, secret, problem } = await observe(keeper, controlPlane, cluster, signal);
  const decision = decide(snapshot);
  const { connects } = decision;
  const kept = snapshot.secret?.holder === 'other' ? undefined : snapshot.secret?.memory;
  const expires = kept && { expiresAt: kept.expiresAt };
  const fault = (error: unknown): Step => {
    const message = redactor.text(error instanceof Error ? error.message : String(error));
    return {
      finding: { reason: 'MintFailed', message, connects, ...expires },
      outcome: { kind: 'failed', error: new KubeconfigError(message) },
    };
  };
  const subject = { controlPlane, cluster, secret };
  const name = secretNames.kubeconfig(cluster);
  const theirs: Finding = { reason: snapshot.mode === 'Provided' && connects ? 'Provided' : 'NotOurs', connects };
  switch (decision.kind) {
    case 'leaveToOther':
      return { finding: theirs, outcome: again(lookAgainMs) };
    case 'letGo':
      if ((await letGo(keeper, subject, signal)) === undefined) return { outcome: again(secondLookMs) };
      log.info('Left the kubeconfig to who wrote it', { cluster, secretName: name });
      events.event(controlPlane, leftToOthers(name));
      return { finding: theirs, outcome: again(secondLookMs) };
    case 'blocked':
      if (decision.because === 'noTarget') return fault(problem);
      return { finding: { reason: 'ServiceAccountMissing', connects, ...expires }, outcome: again(lookAgainMs) };
    case 'keep':
      return { finding: { reason: 'Minted', connects, ...expires }, outcome: again(decision.forMs) };
    case 'write':
      try {
        const expiresAt = await writeKubeconfig(keeper, subject, decision, signal);
        if (expiresAt === undefined) return { outcome: again(secondLookMs) };
        log.info('Wrote a kubeconfig for Cluster API', { cluster, secretName: name, because: decision.because });
        events.event(controlPlane, minted(name, decision.because, expiresAt));
        return { finding: { reason: 'Minted', connects: true, expiresAt }, outcome: again(secondLookMs) };
      } catch (error) {
        signal.throwIfAborted();
        return fault(error);
      }
  }
};
