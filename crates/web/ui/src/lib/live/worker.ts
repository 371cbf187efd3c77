import { broadcast } from './channel';
import { UNKNOWN } from './hold';
import { hold } from './share';

// The worker's name is the channel's: there is one for each person. It lives as long as a tab does.
hold(broadcast(self.name), UNKNOWN);
