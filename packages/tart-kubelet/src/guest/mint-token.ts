import { isKubeError, type Live, type Subresources } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Pod } from '../pods/snapshot.ts';
import { HandoverRefused, configProblem } from './refused.ts';
import { lifeOf, type TokenLife } from './token-life.ts';
import type { PlannedToken } from './token-plan.ts';

export interface Mint {
  readonly tokens: Pick<Subresources, 'createToken'>;
  readonly clock: Clock;
}

export interface MintedToken {
  readonly token: string;
  readonly life: TokenLife;
}

const named = (audience: string): string => (audience === '' ? 'the API server' : audience);

/**
 * A token for the Pod's ServiceAccount, good for one audience and as long as this very Pod is there (INC-69, INC-70). Rejects with
 * HandoverRefused when somebody has to change something, else with a KubeError.
 */
export const mintToken = async (
  { clock, tokens }: Mint,
  pod: Live<Pod>,
  { audience, seconds }: PlannedToken,
  signal: AbortSignal,
): Promise<MintedToken> => {
  const { name, namespace = 'default', uid } = pod.metadata;
  const account = pod.spec?.serviceAccountName || 'default';
  try {
    const { token, expirationTimestamp } = await tokens.createToken(
      { namespace, name: account },
      {
        audiences: audience === '' ? [] : [audience],
        expirationSeconds: seconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
      { signal },
    );
    return { token, life: lifeOf(clock.now(), seconds, Date.parse(expirationTimestamp)) };
  } catch (error) {
    if (isKubeError(error, 'notFound'))
      throw configProblem(
        `There is no token of the ServiceAccount ${account}: it is not there, or the Pod is gone (${error.message}). Make the ServiceAccount.`,
      );
    if (isKubeError(error, 'forbidden'))
      throw new HandoverRefused(
        'TokenRefused',
        `The server gives this Node no token of the ServiceAccount ${account} for ${named(audience)}: ${error.message}. A Node gets tokens only for its own Pods, and only for an audience that a projected volume of the Pod names: add a projected volume with a serviceAccountToken of that audience.`,
        error,
      );
    throw error;
  }
};
