import { CannotPlay, type Fault, type Scene } from './fault.ts';
import { narrate } from './narrate.ts';

/** How a play ended; `text` is for people. */
export type Ending =
  | { readonly kind: 'as told'; readonly text: string }
  /** Nothing was changed. */
  | { readonly kind: 'cannot'; readonly text: string }
  | { readonly kind: 'not as told'; readonly text: string }
  | { readonly kind: 'stopped'; readonly text: string };

/** Plays one fault, and says beside it what happens in the cluster. Never rejects; what was broken is mended when it resolves. */
export const play = async ({ title, watch, play: begin }: Fault, scene: Scene): Promise<Ending> => {
  const { simulation, signal } = scene;
  // Messages of scripts have several.
  const say = (line: string): void => scene.say(line.replaceAll(/\s*\n\s*/g, ' '));
  const over = new AbortController();
  const story = narrate(simulation.controlPlane.client, say, AbortSignal.any([signal, over.signal]));
  story.catch(() => {});
  try {
    say(title);
    say(`Watch it with: ${watch.join(', ')}`);
    return { kind: 'as told', text: await begin({ ...scene, say }) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (signal.aborted) return { kind: 'stopped', text: 'Stopped. What was broken is mended.' };
    return { kind: error instanceof CannotPlay ? 'cannot' : 'not as told', text };
  } finally {
    over.abort();
    await story.catch(() => {});
  }
};
