import type { Channel, Message } from './messages';

/** Reaches every tab of this browser, the worker that serves them, and other parts of this tab. */
export function broadcast(name: string): Channel {
  const channel = new BroadcastChannel(name);
  return {
    post: (message) => {
      channel.postMessage(message);
    },
    hear: (hearer) => {
      channel.onmessage = ({ data }: MessageEvent<Message>) => {
        hearer(data);
      };
    },
    close: () => {
      channel.close();
    },
  };
}

/** Two ends within one tab, where there is nobody else to reach. */
export function pair(): [Channel, Channel] {
  const hearers: ((message: Message) => void)[] = [];
  const end = (own: number, other: number): Channel => ({
    // Later, as between tabs: whoever posts is not called back in the middle of it.
    post: (message) => {
      queueMicrotask(() => hearers[other]?.(message));
    },
    hear: (hearer) => {
      hearers[own] = hearer;
    },
    close: () => {
      hearers[own] = () => undefined;
    },
  });
  return [end(0, 1), end(1, 0)];
}
