import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import type { Signed } from './people';
import { Server } from './server';

/** What all files use: a browser, and a server with one account whose admin is signed in. */
export interface Shared {
  readonly endpoint: string;
  readonly origin: string;
  readonly admin: Signed;
}

declare module 'vitest' {
  interface ProvidedContext {
    shared: Shared;
  }
}

/** Runs once before all files; what it gives back runs after them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = new Server();
  const browser = await openBrowser();
  const close = async () => {
    await browser.close();
    await server.remove();
  };
  try {
    await server.start();
    const admin = await server.enter();
    project.provide('shared', { endpoint: browser.wsEndpoint(), origin: server.origin, admin });
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}

function openBrowser() {
  return chromium.launchServer({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      // An address that no browser takes for its own machine: what needs HTTPS is not there.
      '--host-resolver-rules=MAP plain.test 127.0.0.1',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
