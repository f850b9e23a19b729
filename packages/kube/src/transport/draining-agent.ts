import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';

/** Keeps connections open for the next request, until told to let go of them. */
export class DrainingAgent extends Agent {
  #draining = false;

  /** Closes the connections that nobody uses now. */
  closeIdle(): void {
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  /** Requests under way go on, and their connections close behind them. */
  drain(): void {
    this.#draining = true;
    this.closeIdle();
  }

  /** Node asks this of every connection that becomes free, and closes it unless the answer is true. Its types do not say so. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.#draining) return false;
    super.keepSocketAlive(socket);
    return true;
  }
}
