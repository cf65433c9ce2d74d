# Records what rtnetlink sends while ip(8) changes links: see README.md.
import socket,struct,subprocess,time,os,fcntl
out=open('testdata/rtnetlink/links.hex','w')
s=socket.socket(socket.AF_NETLINK,socket.SOCK_RAW,0); s.bind((0,1|1<<4|1<<8)); s.setblocking(False)
seq=[0]
def drain(t=0.3):
    end=time.time()+t
    while time.time()<end:
        try: d,a=s.recvfrom(65536)
        except BlockingIOError: time.sleep(0.01); continue
        out.write(d.hex()+'\n')
def sh(c,t=0.15):
    out.write('# '+c+'\n'); subprocess.run(c,shell=True,check=True); drain(t)
def dump(name,typ,body):
    seq[0]+=1
    out.write('# dump %s %d\n'%(name,seq[0]))
    s.send(struct.pack('=IHHII',16+len(body),typ,0x301,seq[0],0)+body); drain(0.2)
f=os.open('/dev/net/tun',os.O_RDWR)
fcntl.ioctl(f,0x400454ca,struct.pack('16sH22x',b'ib1',0x0002|0x1000))
drain(0.1); out.seek(0); out.truncate()
fcntl_=lambda:fcntl.ioctl(f,0x400454cd,32)
out.write('# TUNSETLINK 32\n'); fcntl_(); drain(0.1)
sh('ip link add ib0 type veth peer name far')
sh('ip link set far up')
sh('ip link set ib0 alias "infiniband fe80::2:c903:0:1 0x8001"')
sh('ip addr add 10.0.0.1/24 dev ib0')
sh('ip addr add 10.9.0.1 peer 10.9.0.2/32 dev ib0')
sh('ip link set ib0 up',2.5)
sh('ip -6 addr add fd00::1/64 dev ib0',2.5)
sh('ip -6 addr add fd00::2/64 dev ib0 nodad',0.3)
dump('links',18,bytes(16)); dump('addresses',22,bytes(8))
sh('ip link add bridge0 type bridge')
sh('ip link set ib0 master bridge0')
sh('ip link set ib0 nomaster')
sh('ip link set ib0 down')
sh('ip link set ib0 name storage')
sh('ip link set storage up',2.5)
sh('ip addr del 10.0.0.1/24 dev storage')
sh('ip netns add acm-addr-capture; ip link set storage netns acm-addr-capture; ip netns del acm-addr-capture')
dump('links',18,bytes(16)); dump('addresses',22,bytes(8))
